// SPDX-License-Identifier: Apache-2.0
// Expected times at sizes that were not tuned, from the cost model and from times at near sizes.
// Times are logarithms of seconds. Distances are root mean squares of log2 of the sizes' ratios.
// The constants were found on an H200, see docs/model.md.
#pragma once

#include <optional>
#include <span>

namespace autotune {

/// Added to the distance of what was tuned on another GPU of the architecture.
inline constexpr double kOtherDevice = 0.5;

/// The model's error for a configuration at the nearest problem where it was timed.
struct KnownError {
  double log_error = 0;  // measured less predicted
  double distance = 0;
};

/// The model's error for a typical configuration: a mean weighted towards near problems. 0 without
/// errors.
double typical_error(std::span<const KnownError> errors);

/// The expected time of a configuration. Near the problem of `known`, the model's error is assumed
/// to be the same; far away, to be `typical`. Without `known`, the configuration is assumed to be
/// slower than predicted, because the least of many predictions tend to be too low.
double expected_time(double predicted, const std::optional<KnownError>& known, double typical);

/// The vendor's library at a tuned problem.
struct BaselineTime {
  double reference = 0;  // the problem's ideal time
  double measured = 0;
  double distance = 0;
};

/// The expected time of the library's best candidate where a problem ideally takes `reference`.
/// Averages the ratio of measured to ideal times over problems of similar sizes and times. nullopt
/// without `times`.
std::optional<double> expected_baseline_time(std::span<const BaselineTime> times, double reference);

/// Whether to take another answer, where one of the two times is only expected. Both are logarithms
/// of seconds. The other must be clearly ahead, the more the farther away the problems are (in
/// doublings of sizes) that it is known from. A wrong choice costs more than a missed one: kernels
/// on tensor cores launch another one first and need a workspace.
bool has_clear_lead(double ours, double others, double distance);

}  // namespace autotune
