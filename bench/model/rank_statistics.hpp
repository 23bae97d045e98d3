// SPDX-License-Identifier: Apache-2.0
// How well an order by prediction agrees with one by measurement.
#pragma once

#include <span>

namespace autotune {

/// Spearman's rank correlation, ties at their mean rank.
double spearman(std::span<const double> a, std::span<const double> b);

/// The best measured among the `top` best predicted, over the best measured of all.
double top_ratio(std::span<const double> predicted, std::span<const double> measured,
                 std::size_t top);

}  // namespace autotune
