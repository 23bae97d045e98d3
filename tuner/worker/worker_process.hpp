// SPDX-License-Identifier: Apache-2.0
// A worker as its parent sees it: a process that was started, answers or not, and has an end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/worker/channel.hpp"

namespace autotune {

/// $AUTOTUNE_WORKER, else `autotune-worker` beside the running program, else in
/// ../libexec/autotune from there. Throws Error when it is in none of them.
std::filesystem::path find_worker_program();

/// What a worker finds its socket at.
inline constexpr int kWorkerSocket = 3;

class WorkerProcess {
 public:
  /// Starts a fresh process, in a group of its own. Throws Error when that fails.
  explicit WorkerProcess(const std::vector<std::string>& argv);
  /// Ends it by SIGKILL and waits for it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  Channel& channel() { return channel_; }

  /// Kills it if it is still there and says in a few words how it ended, with the last line that it
  /// wrote: `signal 11 (Segmentation fault): illegal memory access at 0x0`.
  std::string end();
  std::string last_line() const;

 private:
  struct Sockets;
  WorkerProcess(const std::vector<std::string>& argv, Sockets sockets);

  int output_;  // a file that it writes stdout and stderr to
  Channel channel_;
  pid_t pid_ = 0;
};

}  // namespace autotune
