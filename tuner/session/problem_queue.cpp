// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_queue.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace autotune {

ProblemQueue::ProblemQueue(std::size_t count) : waiting_(count) {
  std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
}

std::optional<std::size_t> ProblemQueue::take(std::optional<std::size_t> wanted) {
  if (waiting_.empty()) return std::nullopt;
  auto found = wanted ? std::ranges::find(waiting_, *wanted) : waiting_.begin();
  if (found == waiting_.end()) found = waiting_.begin();
  const std::size_t number = *found;
  waiting_.erase(found);
  ++begun_;
  return number;
}

std::vector<std::size_t> ProblemQueue::next(std::size_t count) const {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(count, waiting_.size()));
  return {waiting_.begin(), end};
}

bool ProblemQueue::waits(std::size_t number) const {
  return std::ranges::find(waiting_, number) != waiting_.end();
}

bool ProblemQueue::give_back(std::size_t number) {
  --begun_;
  waiting_.push_front(number);
  return given_back_.insert(number).second;
}

std::vector<std::size_t> longest_first(const Target& target, std::span<const Problem> problems,
                                       const DeviceInfo& device) {
  std::vector<double> length;
  for (const Problem& problem : problems) {
    const Work work = work_of(target, problem, device);
    length.push_back(std::max(work.flops, work.bytes));
  }
  std::vector<std::size_t> order(problems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return length[i]; });
  return order;
}

}  // namespace autotune
