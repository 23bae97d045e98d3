// SPDX-License-Identifier: Apache-2.0
// Quantiles and bounds of distributions, from Boost.Math.
#pragma once

#include <cstddef>

namespace autotune {

/// The `probability` quantile of Student's t. `degrees_of_freedom` is at least 1.
double student_t_quantile(double probability, std::size_t degrees_of_freedom);

/// How many of `count` sorted values lie outside each end of the 95 % interval of their median: the
/// largest k with P(Binomial(count, 1/2) < k) <= 0.025.
std::size_t ranks_outside_median_interval(std::size_t count);

/// The largest share of hits that `hits` of `draws` do not refute with 95 % confidence. `draws` is
/// at least 1. Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
/// Case of the Binomial", Biometrika 26, 1934.
double upper_bound_of_share(std::size_t hits, std::size_t draws);

}  // namespace autotune
