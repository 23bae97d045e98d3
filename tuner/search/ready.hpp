// SPDX-License-Identifier: Apache-2.0
// Weighs what a configuration promises against what it costs to compile it.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Which configurations need no compiling, as the evaluator says, asked for once.
class ReadyMemory {
 public:
  explicit ReadyMemory(Evaluator& evaluator) : evaluator_(evaluator) {}

  /// What was not ready may be so after the next evaluations.
  void forget_missing();

  /// The row of the highest score that is ready, among the highest few of at least kShare of the
  /// maximum; `indices` has one configuration a row.
  std::optional<Eigen::Index> best(const Eigen::ArrayXf& scores,
                                   const std::vector<std::size_t>& indices);

 private:
  void ask(std::span<const std::size_t> indices);

  Evaluator& evaluator_;
  std::unordered_map<std::size_t, bool> known_;
};

}  // namespace autotune
