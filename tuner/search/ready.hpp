// SPDX-License-Identifier: Apache-2.0
// Prefers configurations that need no compiling.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Caches Evaluator::ready().
class ReadyMemory {
 public:
  explicit ReadyMemory(Evaluator& evaluator) : evaluator_(evaluator) {}

  /// Forgets which configurations were not ready. Call after evaluations.
  void forget_missing();

  /// The ready configuration with the highest score, as a row of `scores`. Considers the 64 highest
  /// scores of at least a quarter of the maximum. nullopt if none of these is ready. `indices` has
  /// one configuration per row.
  std::optional<Eigen::Index> best(const Eigen::ArrayXf& scores,
                                   const std::vector<std::size_t>& indices);

 private:
  void ask(std::span<const std::size_t> indices);

  Evaluator& evaluator_;
  std::unordered_map<std::size_t, bool> known_;
};

}  // namespace autotune
