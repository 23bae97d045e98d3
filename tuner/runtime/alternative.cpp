// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/alternative.hpp"

#include <algorithm>
#include <limits>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

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
  if (own.target().sizes != other.target().sizes) refuse("sizes");
  const std::vector<std::int64_t> sizes(own.target().sizes.size(), 64);
  const TargetProgram mine(own.target(), own.problem_for(sizes), own.device());
  const TargetProgram others(other.target(), other.problem_for(sizes), other.device());
  if (!std::ranges::equal(mine.buffers(), others.buffers(), is_alike)) refuse("buffers");
  if (!std::ranges::equal(mine.scalars(), others.scalars(), is_same_scalar)) refuse("scalars");
}

/// Infinite unless it was measured for exactly these sizes.
double measured_ns(const LookupAnswer& answer) {
  if (answer.origin != db::Origin::exact || answer.median_ns == 0) {
    return std::numeric_limits<double>::infinity();
  }
  return answer.baseline_ns > 0 ? std::min(answer.median_ns, answer.baseline_ns) : answer.median_ns;
}

}  // namespace

std::unique_ptr<TargetLookup> open_alternative(const TargetLookup& own, Target target,
                                               const NamedValues& settings,
                                               std::vector<db::Layer> layers) {
  NamedValues known;
  for (const NamedValue& each : settings) {
    const auto has = [&](const Setting& setting) { return setting.name == each.name; };
    if (std::ranges::any_of(target.settings, has)) known.push_back(each);
  }
  auto other = std::make_unique<TargetLookup>(std::move(target), known, own.device(), own.policy(),
                                              std::move(layers));
  require_the_same_call(own, *other);
  return other;
}

TargetLookup& faster_of(TargetLookup& own, TargetLookup* other,
                        std::span<const std::int64_t> sizes) {
  if (other == nullptr) return own;
  const LookupAnswer mine = own.find(sizes);
  if (mine.provenance == "pinned") return own;
  return measured_ns(other->find(sizes)) < measured_ns(mine) ? *other : own;
}

}  // namespace autotune
