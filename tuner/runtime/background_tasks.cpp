// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/first_use.hpp"

#include <algorithm>
#include <utility>

namespace autotune {

BackgroundTasks::BackgroundTasks(std::vector<std::function<void()>> tasks)
    : tasks_(std::move(tasks)) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min(cores, tasks_.size());
  running_ = count;
  for (std::size_t i = 0; i < count; ++i) {
    threads_.emplace_back([this] {
      // Cannot overflow: each of a few threads goes past the end once.
      for (std::size_t at = next_++; at < tasks_.size(); at = next_++) tasks_[at]();
      --running_;
    });
  }
}

BackgroundTasks::~BackgroundTasks() { drop(); }

}  // namespace autotune
