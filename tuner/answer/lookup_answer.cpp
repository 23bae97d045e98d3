// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/lookup_answer.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/answer/transfer_choice.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::string library_text(const LookupAnswer& answer, const Problem& problem) {
  const std::string time = time_text(answer.baseline_ns * 1e-9);
  if (!answer.library_is_expected && !problem.free.empty()) {
    return format(
        "{} takes {} with default free sizes: it is faster there, and is launched instead if it "
        "can be loaded",
        answer.baseline, time);
  }
  if (!answer.library_is_expected) {
    return format("{} takes {}: it is faster, and is launched instead if it can be loaded",
                  answer.baseline, time);
  }
  if (answer.baseline_ns == 0) {
    return format(
        "{} computes this too, and nothing tells that the configuration is faster: it is "
        "launched instead if it can be loaded",
        answer.baseline);
  }
  return format(
      "{} is expected to take {}: the configuration is not known to be faster with a "
      "confidence of 99 %, so the library is launched instead if it can be loaded",
      answer.baseline, time);
}

}  // namespace

std::string explanation_of(const Target& target, const Problem& problem, const DeviceInfo& device,
                           const LookupAnswer& answer) {
  const bool is_predicted = answer.provenance == "predicted";
  const bool is_exact = answer.origin == db::Origin::exact;
  if (answer.configuration.empty()) {  // of a lock
    return format("{} {} on {}: {}\n{}\n", target.name, problem_text(target, problem), device.name,
                  answer.baseline,
                  answer.locked ? "held by the lock" : "the lock's fallback: it holds no answer");
  }
  std::string text =
      format("{} {} on {}: {}\n", target.name, problem_text(target, problem), device.name,
             configuration_text(target, problem, answer.configuration, device));
  switch (answer.origin) {
    case db::Origin::exact:
      text += is_predicted ? "predicted by the cost model for these sizes, not measured"
                           : format("tuned for these sizes, {}", answer.provenance);
      break;
    case db::Origin::transferred:
      if (!problem.free.empty() && answer.distance == 0) {
        text += "good at these sizes with default free sizes; not timed with those given";
        break;
      }
      text += format(
          "these sizes are not tuned; expected to be the fastest of {}; from sizes a factor of "
          "{:.3g} away",
          answer.is_pinned()
              ? "the configurations of the cover that spans them (autotune db unpin takes it back)"
              : "the configurations that are good at near sizes",
          std::exp2(answer.distance));
      break;
    case db::Origin::same_architecture:
      text += format(
          "not tuned on this device; good on another of the same architecture, at sizes a factor "
          "of {:.3g} away",
          std::exp2(answer.distance));
      break;
    case db::Origin::default_configuration:
      text += is_predicted
                  ? "nothing is tuned for this device; the configuration that the cost model "
                    "expects to be the fastest"
                  : "no near size is tuned; the target's default configuration";
      break;
  }
  if (answer.validity != db::Validity::exact) text += format(", {}", name_of(answer.validity));
  text += '\n';
  if (answer.median_ns > 0) {
    text +=
        format("{}{} there", time_text(answer.median_ns * 1e-9), is_predicted ? " predicted" : "");
    if (answer.default_ns > 0) {
      text += format(", {:.2f}x the default", answer.default_ns / answer.median_ns);
    }
    text += '\n';
  }
  if (!is_exact && answer.expected_ns > 0) {
    text += format("{} expected here\n", time_text(answer.expected_ns * 1e-9));
  }
  if (!answer.baseline.empty()) text += library_text(answer, problem) + '\n';
  return text;
}

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
  if (own.is_pinned()) return false;
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
