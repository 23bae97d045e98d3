// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/known_times.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "db/rows.hpp"
#include "tuner/probability/quantiles.hpp"

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

namespace {

constexpr std::size_t kMostBaselines = 64;
constexpr std::size_t kMostNear = 128;          // problems from which another is expected
constexpr std::size_t kMostLeftOut = 2048;      // in turn: each is compared with all others
constexpr double kOtherOnes = 1.5;              // added to the distance of a library's time
constexpr double kOtherAlignment = 2;           // the same, for each factor of two
constexpr double kOtherAlignmentIfEqual = 0.1;  // where a library is as fast with any alignment
constexpr double kShortSeconds = 10e-6;

/// Whether the same sizes are 1. Of a vector, a library computes the product in another way.
bool are_ones_the_same(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::ranges::equal(a, b, [](auto x, auto y) { return (x == 1) == (y == 1); });
}

std::optional<KnownError> error_of(const KnownTime& time, std::span<const NearProblem> near) {
  for (const NearProblem& each : near) {
    for (const KnownTime& other : each.known->good) {
      if (other.levels != nullptr && other.number == time.number && other.error) {
        return KnownError{*other.error, each.distance};
      }
    }
  }
  return std::nullopt;
}

/// Our expected time less the measured one, of the configuration that would be chosen among those
/// that were good there. nullopt without a time.
std::optional<double> own_error(const KnownProblem& one, std::span<const NearProblem> near) {
  std::vector<KnownError> errors;
  for (const NearProblem& each : near) {
    for (const KnownTime& time : each.known->good) {
      if (time.error) errors.push_back({*time.error, each.distance});
    }
  }
  const double typical = typical_error(errors);
  double least = std::numeric_limits<double>::infinity();
  std::optional<double> error;
  for (const KnownTime& time : one.good) {
    if (!time.error || time.levels == nullptr) continue;
    const double measured = std::log(time.time->ns * 1e-9);
    const double expected = expected_time(measured - *time.error, error_of(time, near), typical);
    if (expected >= least) continue;
    least = expected;
    error = expected - measured;
  }
  return error;
}

/// With this confidence, the next error is below it.
double quantile(std::span<const double> errors, double confidence) {
  const auto count = static_cast<double>(errors.size());
  const double mean = std::reduce(errors.begin(), errors.end()) / count;
  double squares = 0;
  for (const double error : errors) squares += (error - mean) * (error - mean);
  const double deviation = std::sqrt(squares / (count - 1) * (1 + 1 / count));
  return mean + student_t_quantile(confidence, errors.size() - 1) * deviation;
}

}  // namespace

std::vector<NearProblem> nearest(const KnownTimes& known, std::span<const std::int64_t> sizes,
                                 bool is_here, std::size_t most, double radius) {
  std::vector<NearProblem> near;
  near.reserve(known.problems().size());
  for (const KnownProblem& one : known.problems()) {
    const double distance = db::size_distance(one.problem->sizes, sizes);
    if (distance <= radius) continue;  // on other devices, too
    near.push_back({&one, distance + (one.is_here == is_here ? 0 : kOtherDevice)});
  }
  const std::size_t count = std::min(near.size(), most);
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count), {},
                            &NearProblem::distance);
  near.resize(count);
  return near;
}

std::vector<BaselineTime> LeadErrors::library_times(std::span<const NearProblem> near,
                                                    std::span<const std::int64_t> sizes,
                                                    int alignment) const {
  std::call_once(*is_alignment_decided_, [&] { other_alignment_ = closest_alignment(); });
  return library_times(near, sizes, alignment, other_alignment_);
}

std::vector<BaselineTime> LeadErrors::library_times(std::span<const NearProblem> near,
                                                    std::span<const std::int64_t> sizes,
                                                    int alignment, double other_alignment) const {
  const bool has_model = known_.models().has_model();
  std::vector<BaselineTime> times;
  for (const auto& [known, distance] : near) {
    if (times.size() == kMostBaselines) break;
    const db::PastProblem& problem = *known->problem;
    if (problem.baseline_ns <= 0 || (!has_model && !known->is_here)) continue;
    const double reference = reference_of(*known);
    if (!std::isfinite(reference)) continue;
    const double unlike = (are_ones_the_same(problem.sizes, sizes) ? 0 : kOtherOnes) +
                          other_alignment * std::abs(alignment - known->alignment);
    times.push_back({reference, std::log(problem.baseline_ns * 1e-9), distance + unlike});
  }
  return times;
}

/// What expects the library's times best where each problem in turn counts as not tuned.
double LeadErrors::closest_alignment() const {
  double off = 0, off_if_equal = 0;
  for (const KnownProblem* one : timed_) {
    const std::vector<NearProblem> near =
        nearest(known_, one->problem->sizes, one->is_here, kMostNear, kRadii.front());
    const auto off_by = [&](double other_alignment) {
      const std::vector<BaselineTime> times =
          library_times(near, one->problem->sizes, one->alignment, other_alignment);
      const auto expected = expected_baseline_time(times, reference_of(*one));
      if (!expected || !std::isfinite(*expected)) return 0.0;
      return std::abs(*expected - std::log(one->problem->baseline_ns * 1e-9));
    };
    off += off_by(kOtherAlignment);
    off_if_equal += off_by(kOtherAlignmentIfEqual);
  }
  return off <= off_if_equal ? kOtherAlignment : kOtherAlignmentIfEqual;
}

/// What times of the library are compared with: the ideal time, without a model the winner's.
double LeadErrors::reference_of(const KnownProblem& one) const {
  return known_.models().has_model() ? one.ideal : std::log(one.problem->good.front().ns * 1e-9);
}

LeadErrors::LeadErrors(const KnownTimes& known)
    : known_(known),
      is_alignment_decided_(std::make_unique<std::once_flag>()),
      errors_(std::make_unique<std::array<Errors, kRadii.size()>>()) {
  for (const KnownProblem& one : known.problems()) {
    const db::PastProblem& problem = *one.problem;
    if (problem.baseline_ns > 0 && problem.good.front().ns > 0) timed_.push_back(&one);
  }
  const std::size_t step = timed_.size() / kMostLeftOut + 1;
  std::size_t i = 0;
  std::erase_if(timed_, [&](const KnownProblem*) { return i++ % step != 0; });
}

double LeadErrors::margin(double distance, double seconds, int alignment, double confidence) const {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const auto radius = std::ranges::lower_bound(kRadii, distance);
  if (radius == kRadii.end()) return kUnknown;
  Errors& errors = (*errors_)[static_cast<std::size_t>(radius - kRadii.begin())];
  std::call_once(errors.computed, [&] { compute(*radius, errors); });
  const bool is_short = seconds < kShortSeconds, is_aligned = alignment == SizedTarget::kAligned;
  const auto margin_of = [&](auto&& is_alike) -> std::optional<double> {
    std::vector<double> alike;
    for (const LeadError& each : errors.all) {
      if (is_alike(each)) alike.push_back(each.error);
    }
    if (alike.size() < kFewest) return std::nullopt;
    return quantile(alike, confidence);
  };
  auto margin = margin_of([&](const auto& one) { return one.is_short == is_short; });
  if (!margin) margin = margin_of([&](const auto& one) { return one.is_aligned == is_aligned; });
  if (!margin) margin = margin_of([](const auto&) { return true; });
  return margin.value_or(kUnknown);
}

void LeadErrors::compute(double radius, Errors& errors) const {
  const bool has_model = known_.models().has_model();
  for (const KnownProblem* one : timed_) {
    const db::PastProblem& problem = *one->problem;
    const auto near = nearest(known_, problem.sizes, one->is_here, kMostNear, radius);
    const std::vector<BaselineTime> times = library_times(near, problem.sizes, one->alignment);
    const double reference = reference_of(*one);
    if (times.empty() || !std::isfinite(reference)) continue;
    const std::optional<double> ours = has_model ? own_error(*one, near) : std::optional(0.0);
    if (!ours) continue;
    const double measured = std::log(problem.baseline_ns * 1e-9);
    const double library = *expected_baseline_time(times, reference) - measured;
    // Too high an expectation of the library, or too low a one of ours, feigns a lead.
    errors.all.push_back({library - *ours, std::exp(measured) < kShortSeconds,
                          one->alignment == SizedTarget::kAligned});
  }
}

}  // namespace autotune
