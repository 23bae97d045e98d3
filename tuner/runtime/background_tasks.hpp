// SPDX-License-Identifier: Apache-2.0
// Work on all cores that its caller need not wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace autotune {

class BackgroundTasks {
 public:
  /// Begins the tasks in their order. They must not throw.
  explicit BackgroundTasks(std::vector<std::function<void()>> tasks);
  /// Drops what has not begun, and waits for the rest.
  ~BackgroundTasks();
  BackgroundTasks(const BackgroundTasks&) = delete;
  BackgroundTasks& operator=(const BackgroundTasks&) = delete;

  /// No further task begins.
  void drop() { next_ = tasks_.size(); }
  /// Nothing runs, and nothing will.
  bool have_ended() const { return running_ == 0; }

 private:
  const std::vector<std::function<void()>> tasks_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> running_;  // threads
  std::vector<std::jthread> threads_;
};

}  // namespace autotune
