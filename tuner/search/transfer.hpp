// SPDX-License-Identifier: Apache-2.0
// Transfers trials of other sizes to the next problem.
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
  double predicted = 0;  // by the cost model, in seconds; 0 without one
};

/// The predicted time in seconds of every configuration of `space` on `problem`: the cost model's
/// `predicted` (one per index), corrected by `history`. With `predicted` empty, the result comes
/// from `history` alone; then only its ranking is meaningful.
///
/// Fits a Gaussian process over parameters and the logarithms of sizes to log(measured /
/// predicted). Without a model, it fits each problem's log times minus their mean. Far from all
/// history, predictions do not change. Without usable history, returns `predicted`. Uses at most
/// 128 trials, from the nearest problems.
std::vector<double> corrected_predictions(const ParameterSpace& space, const NamedValues& problem,
                                          std::span<const double> predicted,
                                          std::span<const PastTrial> history);

/// Indices of the problems whose trials corrected_predictions() uses for this problem: the nearest
/// few.
std::vector<std::size_t> telling_problems(const NamedValues& problem,
                                          std::span<const NamedValues> others);

}  // namespace autotune
