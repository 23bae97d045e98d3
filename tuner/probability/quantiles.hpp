// SPDX-License-Identifier: Apache-2.0
// Quantiles of distributions, from Boost.Math.
#pragma once

#include <cstddef>

namespace autotune {

/// The `probability` quantile of Student's t. `degrees_of_freedom` is at least 1.
double student_t_quantile(double probability, std::size_t degrees_of_freedom);

/// How many of `count` sorted values lie outside each end of the 95 % interval of their median: the
/// largest k with P(Binomial(count, 1/2) < k) <= 0.025.
std::size_t ranks_outside_median_interval(std::size_t count);

}  // namespace autotune
