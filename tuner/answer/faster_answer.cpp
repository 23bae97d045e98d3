// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/faster_answer.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/answer/transfer_choice.hpp"

namespace autotune {
namespace {

/// Doublings of the sizes from where the other answer is known. Farther away, its expected time is
/// that of the model alone, and the least of many predictions tend to be too low.
constexpr double kFarthest = 2;

/// Where the library may run, beside it.
bool is_measured(const LookupAnswer& answer, Engines engines) {
  const bool is_whole = engines == Engines::kernels_only || !answer.library_is_expected;
  return answer.origin == db::Origin::exact && answer.provenance != "predicted" &&
         answer.median_ns > 0 && is_whole;
}

bool runs_library(const LookupAnswer& answer, Engines engines) {
  return engines == Engines::with_libraries && !answer.baseline.empty();
}

/// Of what runs at these sizes. 0: unknown.
double time_of(const LookupAnswer& answer, Engines engines) {
  return runs_library(answer, engines) ? answer.baseline_ns : answer.expected_ns;
}

double distance_of(const LookupAnswer& answer) {
  return answer.distance + (answer.origin == db::Origin::same_architecture ? kOtherDevice : 0);
}

/// Configurations of far sizes and the default one are not.
bool is_tuned_near(const LookupAnswer& answer) {
  return answer.origin != db::Origin::default_configuration && distance_of(answer) <= kFarthest &&
         answer.expected_ns > 0;
}

}  // namespace

bool is_faster(const LookupAnswer& other, const LookupAnswer& own, Engines engines) {
  if (own.provenance == "pinned") return false;
  const double ours = time_of(own, engines), others = time_of(other, engines);
  const bool is_own_measured = is_measured(own, engines);
  const bool is_other_measured = is_measured(other, engines);
  if (is_own_measured && is_other_measured) return others < ours;
  if (ours == 0) {
    // The kernel of `other` is faster than the library, of which `own` knows nothing.
    const bool beats_library = runs_library(own, engines) && !runs_library(other, engines);
    return is_other_measured || (beats_library && is_tuned_near(other));
  }
  // Both would call the same library, so only `own` may choose it by expectation.
  if (!is_other_measured && runs_library(other, engines)) return false;
  // A measured time gives way to an expected one only for the largest lead.
  const double distance =
      is_own_measured ? kFarthest : std::max(distance_of(own), distance_of(other));
  return is_tuned_near(other) && has_clear_lead(std::log(ours), std::log(others), distance);
}

}  // namespace autotune
