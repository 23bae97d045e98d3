// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/transfer_choice.hpp"

#include <algorithm>
#include <cmath>

namespace autotune {
namespace {

constexpr double kErrorReach = 1.2;    // in doublings of the sizes: errors are alike within it
constexpr double kUnknownError = 0.4;  // expected of a configuration that nobody timed near by
constexpr double kBaselineReach = 1;
constexpr double kTimeReach = 1;     // in logarithms of reference times
constexpr double kFarWeight = 1e-9;  // counts only where nothing is near
constexpr double kLeastLead = 0.05;  // of another answer
constexpr double kLeadPerDoubling = 0.1;
constexpr double kMostLead = 0.2;

double bell(double distance, double reach) { return std::exp(-std::pow(distance / reach, 2)); }

}  // namespace

double typical_error(std::span<const KnownError> errors) {
  double weights = 0, sum = 0;
  for (const KnownError& each : errors) {
    const double weight = bell(each.distance, kErrorReach) + kFarWeight;
    weights += weight;
    sum += weight * each.log_error;
  }
  return weights > 0 ? sum / weights : 0;
}

double expected_time(double predicted, const std::optional<KnownError>& known, double typical) {
  const double likeness = known ? bell(known->distance, kErrorReach) : 0;
  const double error = known ? known->log_error : 0;
  return predicted + likeness * error + (1 - likeness) * (typical + kUnknownError);
}

std::optional<double> expected_baseline_time(std::span<const BaselineTime> times,
                                             double reference) {
  double weights = 0, sum = 0;
  for (const BaselineTime& each : times) {
    const double apart = std::abs(reference - each.reference);
    const double weight = bell(apart, kTimeReach) * bell(each.distance, kBaselineReach) +
                          kFarWeight * std::exp(-apart);
    weights += weight;
    sum += weight * (each.measured - each.reference);
  }
  if (weights == 0) return std::nullopt;
  return reference + sum / weights;
}

bool has_clear_lead(double ours, double others, double distance) {
  return others + std::min(kMostLead, kLeastLead + kLeadPerDoubling * distance) < ours;
}

}  // namespace autotune
