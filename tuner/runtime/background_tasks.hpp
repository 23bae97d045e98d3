// SPDX-License-Identifier: Apache-2.0
// Runs tasks on all cores, without making the caller wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace autotune {

class BackgroundTasks {
 public:
  /// Starts the tasks in order. They must not throw.
  explicit BackgroundTasks(std::vector<std::function<void()>> tasks);
  /// Drops tasks that have not started, and waits for the others.
  ~BackgroundTasks();
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  /// Lets no further task start.
  void drop() { next_ = tasks_.size(); }
  /// Whether no task runs or will run.
  bool have_ended() const { return running_ == 0; }

 private:
  const std::vector<std::function<void()>> tasks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> running_;  // threads
  std::vector<std::jthread> threads_;
};

}  // namespace autotune
