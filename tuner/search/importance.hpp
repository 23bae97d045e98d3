// SPDX-License-Identifier: Apache-2.0
// Which parameters matter: permutation importance of a cross-validated surrogate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

struct ParameterImportance {
  std::string name;
  double r2_loss = 0;  // by how much R² falls where this parameter's values are shuffled
};

struct Importance {
  double r2 = 0;           // of log times, on configurations that the surrogate was not fitted to
  int configurations = 0;  // that it was fitted to and tried on
  std::vector<ParameterImportance> parameters;  // those with several values, most important first
};

/// Fewer configurations with a time say nothing about parameters.
inline constexpr int kFewestForImportance = 20;

/// Fits a Gaussian process to the log times in five folds, each to the rest. `answers` has times
/// for indices of the space; the others do not count. Of many, a random sample is used. nullopt
/// below kFewestForImportance times, or where all are equal. After Breiman, "Random Forests",
/// Machine Learning 45, 2001.
std::optional<Importance> importance_of(const ParameterSpace& space,
                                        const std::vector<Evaluation>& answers);

}  // namespace autotune
