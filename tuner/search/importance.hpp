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
  double r2_loss = 0;  // the fall of R² when this parameter's values are shuffled
};

struct Importance {
  double r2 = 0;                                // cross-validated, of log times
  int configurations = 0;                       // in the sample
  std::vector<ParameterImportance> parameters;  // those with several values, most important first
};

/// The fewest timed configurations for an estimate.
inline constexpr int kFewestForImportance = 20;

/// Five-fold cross-validation of a Gaussian process on the log times. `answers` without a time are
/// ignored. A random sample is used if there are many. nullopt below kFewestForImportance times, or
/// if all are equal. After Breiman, "Random Forests", Machine Learning 45, 2001.
std::optional<Importance> importance_of(const ParameterSpace& space,
                                        const std::vector<Evaluation>& answers);

}  // namespace autotune
