// SPDX-License-Identifier: Apache-2.0
// Agreement of predicted and measured ranks.
#pragma once

#include <span>

namespace autotune {

/// Spearman's rank correlation, ties at their mean rank; 0 where all values of one are equal. As
/// many of `a` as of `b`.
double spearman(std::span<const double> a, std::span<const double> b);

/// The shortest measured time among the `top` best predictions, over the shortest of all.
double top_ratio(std::span<const double> predicted, std::span<const double> measured,
                 std::size_t top);

}  // namespace autotune
