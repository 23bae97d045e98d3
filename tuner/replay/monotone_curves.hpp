// SPDX-License-Identifier: Apache-2.0
// Monotone curves: through points, and fitted to points.
#pragma once

#include <span>
#include <vector>

namespace autotune {

/// Values at `at` of the piecewise cubic through the points that is monotone where they are: PCHIP,
/// Fritsch and Butland, "A Method for Constructing Local Monotone Piecewise Cubic Interpolants",
/// 1984, with SciPy's ends. `x` ascends and has no value twice; `at` ascends and lies within it.
/// One point: a constant.
std::vector<double> monotone_cubic(std::span<const double> x, std::span<const double> y,
                                   std::span<const double> at);

struct WeightedPoint {
  double x = 0, y = 0, weight = 1;
};

/// Values at `at` (ascending) of the curve that nowhere rises and has the least sum of weighted
/// squared errors: isotonic regression, by pooling adjacent violators. Linear between the points,
/// constant beyond them. `points` ascend by x; some have a weight above 0, and the others are left
/// out.
std::vector<double> falling_regression(std::span<const WeightedPoint> points,
                                       std::span<const double> at);

}  // namespace autotune
