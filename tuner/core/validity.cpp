// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/validity.hpp"

#include <algorithm>

namespace autotune {

Validity::Validity(const Target& target, const Problem& problem, const DeviceInfo& device,
                   SizeBinding sizes)
    : binding_(target, target.parameters, scope_of(problem, device), sizes),
      constraints_(binding_.bind(target.constraints)) {
  for (std::size_t i = 0; i < target.parameters.size(); ++i) {
    if (const auto& when = target.parameters[i].when) whens_.push_back({i, binding_.bind(*when)});
  }
}

bool Validity::operator()(std::span<const std::uint16_t> levels,
                          std::span<const std::int64_t> sizes) const {
  const Slots slots = binding_.slots(levels, sizes);
  // A parameter without meaning takes its first value.
  const auto fits = [&](const When& when) {
    return levels[when.parameter] == 0 || when.holds(slots) != 0;
  };
  return std::ranges::all_of(whens_, fits) &&
         std::ranges::all_of(constraints_, [&](const Formula& one) { return one(slots) != 0; });
}

}  // namespace autotune
