// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/lookup_answer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/answer/known_times.hpp"
#include "tuner/core/error.hpp"
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

namespace {

LookupAnswer answer_of(const LockedAnswer& locked, db::Validity validity) {
  LookupAnswer answer{locked.configuration, locked.provenance, locked.origin,  validity,
                      locked.median_ns,     locked.default_ns, locked.distance};
  answer.baseline = locked.library;
  answer.baseline_ns = locked.library_ns;
  answer.early_start = locked.early_start;
  answer.library_is_expected = locked.library_is_expected;
  answer.expected_ns = locked.expected_ns;
  answer.is_locked = true;
  answer.locked = &locked;
  return answer;
}

}  // namespace

LockedAnswers::LockedAnswers(std::shared_ptr<const Lock> lock, const SizedTarget& sized,
                             const std::string& settings, const std::string& policy)
    : lock_(std::move(lock)),
      key_sizes_(sized.target.sizes.size()),
      all_sizes_(key_sizes_ + sized.target.free_sizes.size()) {
  const LockedTarget* const held = lock_->find(sized.target.name, settings, policy);
  if (!held) return;
  if (held->fingerprint != sized.target.fingerprint || held->sizes != size_names(sized.target)) {
    throw Error(
        format("{}: its kernels are of another version of {} than the one here: install "
               "that version, or make the lock again (autotune lock)",
               lock_->path.string(), sized.target.name));
  }
  // A program with a lock does not load NVRTC, so its environment lacks that version.
  const std::string& here = sized.device.environment;
  auto validity = db::Validity::exact;
  if (!lock_->environment.empty() && !here.empty() && !lock_->environment.starts_with(here)) {
    validity = db::Validity::environment_drifted;
    warning_ = format(
        "{}: was made with {}, and here is {}: autotune lock --verify says which of its "
        "answers still hold",
        lock_->path.string(), lock_->environment, here);
  }
  table_.emplace(*held);
  for (const LockedAnswer& each : held->answers) answers_.push_back(answer_of(each, validity));
  first_ = held->answers.data();
}

const LookupAnswer* LockedAnswers::find(std::span<const std::int64_t> sizes) const {
  if (!table_) return nullptr;
  const LockedAnswer* answer = nullptr;
  if (sizes.size() <= key_sizes_) {
    answer = table_->find(sizes);
  } else {
    std::vector<std::int64_t> whole(sizes.begin(), sizes.end());
    whole.resize(all_sizes_, kDefaultSize);
    answer = table_->find(whole);
  }
  return answer ? &answers_[static_cast<std::size_t>(answer - first_)] : nullptr;
}

}  // namespace autotune
