// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/alternative.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/answer/transfer_choice.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Doublings of the sizes from where an alternative is known. Farther away, its expected time is
/// that of the model alone, and the least of many predictions tend to be too low.
constexpr double kFarthest = 2;

bool is_alike(const BufferSpec& a, const BufferSpec& b) {
  return a.name == b.name && a.type == b.type && a.members == b.members && a.length == b.length &&
         a.role == b.role;
}

bool is_same_scalar(const Scalar& a, const Scalar& b) {
  return a.name == b.name && a.type == b.type;
}

/// Compared at one problem.
void require_the_same_call(const TargetLookup& own, const TargetLookup& other) {
  const auto refuse = [&](const char* what) {
    throw UsageError(format("autotune_options.alternative: {} and {} have different {}",
                            own.target().name, other.target().name, what));
  };
  if (size_names(own.target()) != size_names(other.target())) refuse("sizes");
  const std::vector<std::int64_t> sizes(own.target().sizes.size(), 64);
  const TargetProgram mine(own.target(), own.problem_for(sizes), own.device());
  const TargetProgram others(other.target(), other.problem_for(sizes), other.device());
  if (!std::ranges::equal(mine.buffers(), others.buffers(), is_alike)) refuse("buffers");
  if (!std::ranges::equal(mine.scalars(), others.scalars(), is_same_scalar)) refuse("scalars");
}

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

std::unique_ptr<TargetLookup> open_alternative(const TargetLookup& own, Target target,
                                               const NamedValues& settings,
                                               std::vector<db::Layer> layers, Libraries libraries) {
  NamedValues known;
  for (const NamedValue& each : settings) {
    const auto has = [&](const Setting& setting) { return setting.name == each.name; };
    if (std::ranges::any_of(target.settings, has)) known.push_back(each);
  }
  auto other = std::make_unique<TargetLookup>(std::move(target), known, own.device(), own.policy(),
                                              std::move(layers), std::move(libraries));
  require_the_same_call(own, *other);
  return other;
}

std::unique_ptr<TargetLookup> open_named_alternative(
    const TargetLookup& own, const std::function<Target(const std::string&)>& find,
    const NamedValues& settings, const std::vector<db::Layer>& layers, Libraries libraries) {
  const std::string& name = own.target().alternative;
  if (name.empty()) return nullptr;
  try {
    return open_alternative(own, find(name), settings, layers, std::move(libraries));
  } catch (const Error&) {  // nobody asked for it
    return nullptr;
  }
}

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
  // Both targets would call the same library, so only `own` may choose it by expectation.
  if (!is_other_measured && runs_library(other, engines)) return false;
  // A measured time gives way to an expected one only for the largest lead.
  const double distance =
      is_own_measured ? kFarthest : std::max(distance_of(own), distance_of(other));
  return is_tuned_near(other) && prefers_alternative(std::log(ours), std::log(others), distance);
}

TargetLookup& faster_of(TargetLookup& own, TargetLookup* other, std::span<const std::int64_t> sizes,
                        Engines engines) {
  if (other == nullptr) return own;
  const LookupAnswer mine = own.find(sizes);  // first, so that errors name this target
  return is_faster(other->find(sizes), mine, engines) ? *other : own;
}

bool may_be_faster(const LookupAnswer& own, const LookupAnswer& other) {
  return is_tuned_near(other) && (own.expected_ns == 0 || other.expected_ns < own.expected_ns);
}

}  // namespace autotune
