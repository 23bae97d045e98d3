// SPDX-License-Identifier: Apache-2.0
// Medians, their intervals and paired ratios: what a set of times says, with no distribution
// assumed.
#pragma once

#include <span>

#include "tuner/core/measurement.hpp"

namespace autotune {

/// Sums up at least one time, in any order. The interval comes from ranks, as in Hoefler and Belli,
/// "Scientific Benchmarking of Parallel Computing Systems", SC 2015; below 6 samples, where ranks
/// cannot give 95 %, it is the whole range.
Measurement summarize(std::span<const double> seconds);

double median(std::span<const double> values);
double mean(std::span<const double> values);
/// Of the mean; 0 for fewer than two values.
double standard_error(std::span<const double> values);

/// Half the 99 % interval (Student's) of the mean over the mean: what a visit stops by. Infinite
/// for fewer than two values.
double relative_half_width(std::span<const double> values);

/// A time over another, with the 95 % interval of the median ratio.
struct Ratio {
  double median = 1;
  double low = 1;
  double high = 1;
};

/// Of a[i] to b[i], taken in the same block: what both suffered there cancels.
Ratio paired_ratio(std::span<const double> a, std::span<const double> b);

/// Times above the median by more than 1 % and by more than 5 robust standard deviations.
int count_outliers(std::span<const double> seconds);

}  // namespace autotune
