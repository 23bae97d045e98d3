// SPDX-License-Identifier: Apache-2.0
// A worker as its parent sees it: a process that was started, answers or not, and has an end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/worker/channel.hpp"

namespace autotune {

/// $AUTOTUNE_WORKER, else `autotune-worker` beside the running program, else in
/// ../libexec/autotune from there. Throws Error when it is in none of them.
std::filesystem::path find_worker_program();

/// What a worker finds its socket at.
inline constexpr int kWorkerSocket = 3;

/// Of the build: the release, and a hash of what tool and worker say to each other.
const char* worker_version();

/// What a worker says before anything else.
Json worker_greeting();

/// How a worker ended.
struct WorkerEnd {
  int signal = 0;    // 0: by itself
  std::string text;  // with its last line: `signal 11 (Segmentation fault): illegal memory access`
};

class WorkerProcess {
 public:
  /// Starts a fresh process, in a group of its own. Throws Error when that fails.
  explicit WorkerProcess(const std::vector<std::string>& argv);
  /// Ends it, with all that it has started, by SIGKILL and waits for it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// Sends a request and waits for its answer, each no longer than the limit. nullopt: silence()
  /// says why. Throws Error when the program is the worker of another build.
  std::optional<Message> ask(const Json& request, std::string_view bytes, double limit_seconds,
                             const Extension& more = {});
  Silence silence() const { return channel_.silence(); }

  /// Kills it if it is still there, with all that it has started.
  WorkerEnd end();
  std::string last_line() const;

 private:
  struct Sockets;
  WorkerProcess(const std::vector<std::string>& argv, Sockets sockets);
  void check_version(const Json& greeting);

  const std::string program_;
  int output_;  // a file that it writes stdout and stderr to
  Channel channel_;
  pid_t pid_ = 0;
  bool greeted_ = false;
};

}  // namespace autotune
