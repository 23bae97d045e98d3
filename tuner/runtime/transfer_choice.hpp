// SPDX-License-Identifier: Apache-2.0
// Expected times at sizes that were not tuned, from the cost model and from times at near sizes.
// Times are logarithms of seconds. Distances are root mean squares of log2 of the sizes' ratios.
// The constants were found on an H200, see docs/model.md.
#pragma once

#include <optional>
#include <span>

namespace autotune {

/// The model's error for a configuration at the nearest problem where it was timed.
struct KnownError {
  double log_error = 0;  // measured less predicted
  double distance = 0;
};

/// The model's error for a typical configuration: the mean, of which near problems weigh most. 0
/// without any.
double typical_error(std::span<const KnownError> errors);

/// The expected time of a configuration. The model's error is the more alike the nearer the
/// problems are; far away, it is `typical`. A configuration without `known` is expected to be
/// slower than predicted: among many predictions, those that are too low come first.
double expected_time(double predicted, const std::optional<KnownError>& known, double typical);

/// The vendor's library at a tuned problem.
struct BaselineTime {
  double reference = 0;  // what the problem takes ideally
  double measured = 0;
  double distance = 0;
};

/// The library's expected time where a problem ideally takes `reference`. Averages the ratio of
/// both over problems of similar sizes and times. nullopt without `times`.
std::optional<double> expected_baseline_time(std::span<const BaselineTime> times, double reference);

/// Whether the library is to be called. The further the nearest tuned problem, the more must ours
/// be ahead.
bool prefers_baseline(double ours, double baseline, double distance);

}  // namespace autotune
