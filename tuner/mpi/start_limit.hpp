// SPDX-License-Identifier: Apache-2.0
// Ends a job whose start hangs: MPI starts all ranks together, and waits for ever for one that died
// or stopped meanwhile.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace autotune {

/// While it lives, ends this process with cli::kFailed after so many seconds, and kills the ranks
/// of this host that are stopped, for which mpirun would wait. The message names `variable`, which
/// holds the limit.
class StartLimit {
 public:
  StartLimit(double seconds, const char* variable);
  ~StartLimit();
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  void watch(double seconds, const char* variable);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_started_ = false;
  std::thread thread_;
};

/// Kills the stopped processes among the children of a process.
void kill_stopped_children(int parent);

}  // namespace autotune
