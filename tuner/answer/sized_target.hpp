// SPDX-License-Identifier: Apache-2.0
// A target with fixed settings on one device, for any sizes. Free sizes may follow those of the
// key; they decide validity and expected times, and stored results are found without them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tuner/core/target_program.hpp"

namespace autotune {

/// References only: what they refer to must outlive it.
struct SizedTarget {
  const Target& target;
  const Problem& smallest;  // every size as small as may be, and the settings
  const DeviceInfo& device;
  const TargetProgram& program;  // with given sizes
};

/// The sizes of the key, without free ones.
inline std::span<const std::int64_t> key_of(const Target& target,
                                            std::span<const std::int64_t> sizes) {
  return sizes.first(std::min(sizes.size(), target.sizes.size()));
}

/// The levels of a stored text. nullopt if it is not a configuration of the target.
std::optional<Levels> levels_in(const Target& target, std::string_view configuration);

/// False also where a constraint cannot be evaluated.
bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept;

}  // namespace autotune
