// SPDX-License-Identifier: Apache-2.0
// The problems of a run: which are waiting, begun, given back.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// Problems have numbers. For one thread at a time.
class ProblemQueue {
 public:
  /// In the order of their numbers.
  explicit ProblemQueue(std::size_t count);
  explicit ProblemQueue(std::span<const std::size_t> order)
      : waiting_(order.begin(), order.end()) {}

  /// The next problem, which is begun then; `wanted` if that waits.
  std::optional<std::size_t> take(std::optional<std::size_t> wanted = {});
  /// The next few problems that nobody has begun.
  std::vector<std::size_t> next(std::size_t count) const;
  /// Replaces the problems that wait.
  void expect(std::span<const std::size_t> order) { waiting_.assign(order.begin(), order.end()); }
  /// A problem that was begun is finished.
  void done() { --begun_; }
  /// A problem that was begun waits again, before all others. False at its second time.
  bool give_back(std::size_t number);
  bool was_given_back(std::size_t number) const { return given_back_.contains(number); }

  bool waits(std::size_t number) const;
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t begun() const { return begun_; }
  /// Problems that are waiting or begun.
  std::size_t unfinished() const { return waiting_.size() + begun_; }

 private:
  std::deque<std::size_t> waiting_;
  std::set<std::size_t> given_back_;  // ever
  std::size_t begun_ = 0;
};

/// The numbers of the problems, those with most work first: the last ones to be begun are short, so
/// that the devices of a run finish at about the same time.
std::vector<std::size_t> longest_first(const Target& target, std::span<const Problem> problems,
                                       const DeviceInfo& device);

}  // namespace autotune
