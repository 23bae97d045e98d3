// SPDX-License-Identifier: Apache-2.0
// What was measured at other sizes, used at the next.
#pragma once

#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/core/value.hpp"

namespace autotune {

/// A correct configuration of an earlier problem of the same target on the same device.
struct PastTrial {
  NamedValues problem;  // sizes and settings
  Configuration configuration;
  double seconds = 0;
  double predicted = 0;  // what the cost model said; 0 where there was none
};

/// The time in seconds of every configuration of `space` on `problem`, as the cost model's
/// `predicted` (one an index) corrected by `history`; with `predicted` empty, from history alone:
/// the ranks mean something then, the level little. A Gaussian process over parameters and the
/// logarithms of sizes is fitted to log(measured / predicted), or to the log times of each problem
/// less their mean; far from all history the prediction stays as it was. Without usable history
/// `predicted` comes back unchanged. Cost: at most 128 trials are used, the nearest problems'.
std::vector<double> corrected_predictions(const ParameterSpace& space, const NamedValues& problem,
                                          std::span<const double> predicted,
                                          std::span<const PastTrial> history);

}  // namespace autotune
