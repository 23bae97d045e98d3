// SPDX-License-Identifier: Apache-2.0
// Prefers configurations that need no compiling.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Caches the evaluator's answer to which configurations need no compiling.
class ReadyMemory {
 public:
  explicit ReadyMemory(Evaluator& evaluator) : evaluator_(evaluator) {}

  /// Forgets the configurations that were not ready. Call after evaluations.
  void forget_missing();

  /// The row with the highest score among ready configurations, if it is among the highest few with
  /// at least kShare of the maximum. `indices` has one configuration per row.
  std::optional<Eigen::Index> best(const Eigen::ArrayXf& scores,
                                   const std::vector<std::size_t>& indices);

 private:
  void ask(std::span<const std::size_t> indices);

  Evaluator& evaluator_;
  std::unordered_map<std::size_t, bool> known_;
};

}  // namespace autotune
