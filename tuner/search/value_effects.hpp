// SPDX-License-Identifier: Apache-2.0
// An additive model of fast configurations: each value of each parameter has an effect.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/observations.hpp"

namespace autotune {

/// A ridge regression of log times on the parameters' values. Times above kFast times the best are
/// clipped there and have little weight, so the effects are those among fast configurations. In
/// some spaces a small change often multiplies the time. A surrogate of all times then expects
/// nothing of a configuration that it has not seen, even next to the fastest.
class ValueEffects {
 public:
  /// At least one observation must be valid. `space` must outlive it.
  ValueEffects(const ParameterSpace& space, const Observations& observations);

  /// The expected log seconds of a configuration.
  double log_seconds(std::size_t index) const;

  static constexpr double kFast = 1.3;            // times the best
  static constexpr std::size_t kFewestFast = 12;  // fastest configurations that are never clipped
  static constexpr double kWeightOfSlow = 0.1;
  static constexpr double kPenalty = 1;  // of the squared effects

 private:
  /// The places of a configuration's values in `effects_`.
  std::vector<Eigen::Index> effects_of(std::size_t index) const;

  const ParameterSpace& space_;
  std::vector<std::size_t> first_;  // one per parameter: the place of its first value
  Eigen::VectorXd effects_;         // one per value of each parameter, in log seconds
  double mean_ = 0;                 // log seconds
};

}  // namespace autotune
