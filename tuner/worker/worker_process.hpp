// SPDX-License-Identifier: Apache-2.0
// A worker process, seen from its parent: start, requests, end.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/process.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {

/// A program beside the running one, or in ../libexec/autotune from there; empty if in neither.
std::filesystem::path find_program_of_ours(const std::string& name);

/// $AUTOTUNE_WORKER, else find_program_of_ours("autotune-worker"). Throws Error if there is none.
std::filesystem::path find_worker_program();

/// The descriptor of a worker's socket.
inline constexpr int kWorkerSocket = 3;

/// The build's version: the release, and a hash of the protocol of tool and worker.
const char* worker_version();

/// A worker's first message.
Json worker_greeting();

/// How a worker ended.
struct WorkerEnd {
  int signal = 0;    // 0: by itself
  std::string text;  // `signal 11 (Segmentation fault): illegal memory access`, with its last line

  /// Whether a fault of the code that it ran ended it.
  bool is_fault() const;
  /// Whether it was killed from outside: by a person, or by the system for want of memory.
  bool is_killed() const { return signal != 0 && !is_fault(); }
};

class WorkerProcess {
 public:
  /// Starts a new process in its own group. Throws Error if that fails. Of its stdout and stderr,
  /// 16 MiB are kept; more cannot be written.
  explicit WorkerProcess(const std::vector<std::string>& argv);
  /// Kills the worker and everything that it started, and waits for it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// Sends a request and waits for its answer, each within the limit. nullopt: see silence().
  /// Throws Error if the program is a worker of another build.
  std::optional<Message> ask(const Json& request, std::string_view bytes, double limit_seconds,
                             const Extension& more = {});
  Silence silence() const { return channel_.silence(); }

  /// Kills the worker and everything that it started, if it still runs.
  WorkerEnd end();
  std::string last_line() const;

 private:
  struct Sockets;
  WorkerProcess(const std::vector<std::string>& argv, Sockets sockets);
  void check_version(const Json& greeting);

  const std::string program_;
  int output_;  // a file with its stdout and stderr
  Channel channel_;
  pid_t pid_ = 0;
  bool greeted_ = false;
};

/// Runs argv[0], a path, in a worker process, with all that it starts: nothing of it is left when
/// this returns, or when this process is killed. Ends it after `limit_seconds` (`timed_out`), and
/// when it prints more than `most_bytes` to stdout (`is_too_long`). Throws Error if it cannot be
/// started, or if its worker is killed.
ProcessText run_kept(const std::vector<std::string>& argv, double limit_seconds,
                     std::size_t most_bytes);

/// Serves run_kept() in the worker.
void serve_program(Channel& channel, std::size_t most_bytes);

// The process that ends a worker and all that it started, whatever ends the parent.

/// Call it before the first thread. Forks, and returns in the child, which is the worker. This
/// process keeps it: when the parent's end of the socket is closed, at SIGTERM, or when the worker
/// has ended, it kills the worker and its descendants, in other process groups and sessions too.
/// Then it removes the folder, unless the path is empty, and ends as the worker has ended. If this
/// process is killed, the worker dies with it. Throws Error if there is no other process to be had.
/// With `most_bytes`, it also ends a worker that takes more memory, what it started included.
void keep_worker(const std::filesystem::path& folder, std::int64_t most_bytes = 0);

// The worker's side: serves its parent's requests on a device.

/// Ends this process without destructors: a kernel may have damaged any of its state. Its keeper
/// kills what it started. No signal: that would mean that somebody else killed the worker.
[[noreturn]] void end_worker();

/// Returns when the other end is closed.
void serve_plugin(Channel& channel, const std::filesystem::path& file);

/// Returns when the other end is closed. Compiler programs run in this process's group.
void serve_compiler(Channel& channel);

/// Returns when the other end is closed.
void serve(Channel& channel, Device& device);

}  // namespace autotune
