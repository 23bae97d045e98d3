// SPDX-License-Identifier: Apache-2.0
// Medians, their confidence intervals and paired ratios, without an assumed distribution.
#pragma once

#include <span>

#include "tuner/core/outcome.hpp"

namespace autotune {

/// Summarizes times in any order; at least one. The 95 % interval comes from ranks, as in Hoefler
/// and Belli, "Scientific Benchmarking of Parallel Computing Systems", SC 2015.
Measurement summarize(std::span<const double> seconds);

double median(std::span<const double> values);
double mean(std::span<const double> values);
/// Standard error of the mean; 0 for fewer than two values.
double standard_error(std::span<const double> values);

/// Half the 99 % interval (Student's t) of the mean, over the mean. Infinite for fewer than two
/// values.
double relative_half_width(std::span<const double> values);

/// A ratio of two times: the median, with its interval, as of a Measurement.
struct Ratio {
  double median = 1;
  double low = 1;
  double high = 1;
  int samples = 0;  // pairs
};

/// Whether a whole 95 % interval is below 1. Fewer than kFewestForInterval pairs show nothing.
bool is_clearly_below_one(const Ratio& ratio);

/// The ratio of a[i] to b[i], timed in the same block: common disturbances cancel.
Ratio paired_ratio(std::span<const double> a, std::span<const double> b);

/// Number of times above the median by more than 1 % and by more than 5 robust standard deviations.
int count_outliers(std::span<const double> seconds);

}  // namespace autotune
