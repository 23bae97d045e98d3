// SPDX-License-Identifier: Apache-2.0
// A target with fixed settings on one device, for any sizes. Free sizes may follow those of the
// key; they decide validity and expected times, and stored results are found without them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/core/target_program.hpp"

namespace autotune {

/// The sizes of the key, without free ones.
inline std::span<const std::int64_t> key_of(const Target& target,
                                            std::span<const std::int64_t> sizes) {
  return sizes.first(std::min(sizes.size(), target.sizes.size()));
}

/// References only: what they refer to must outlive it.
struct SizedTarget {
  const Target& target;
  const Problem& smallest;  // every size as small as may be, and the settings
  const DeviceInfo& device;
  const TargetProgram& program;  // with given sizes

  std::span<const std::int64_t> key(std::span<const std::int64_t> sizes) const {
    return key_of(target, sizes);
  }
  /// Whether free sizes follow. After away_from_defaults(): whether some have other values.
  bool is_away(std::span<const std::int64_t> sizes) const {
    return sizes.size() > target.sizes.size();
  }
  /// Without free sizes at the end that are left to their defaults.
  std::span<const std::int64_t> without_defaults(std::span<const std::int64_t> sizes) const;
  /// The same without free sizes that have the value of their default.
  std::vector<std::int64_t> away_from_defaults(std::span<const std::int64_t> sizes) const;
  /// What these sizes share with others for which times are the same: the sizes of the key, and
  /// away from the defaults of free sizes how lines are aligned.
  std::vector<std::int64_t> class_of(std::span<const std::int64_t> sizes) const;

  /// log2 of the number of elements that divides the lengths of all lines of the arrays: of the
  /// free sizes, by default or as given; kAligned at most. Vendors' libraries have other kernels
  /// for lines that are not aligned, which take up to nine times as long in 16 bits.
  int line_alignment(std::span<const std::int64_t> sizes) const;
  static constexpr int kAligned = 3;

  /// False also for no levels, and where a constraint cannot be evaluated.
  bool is_valid(const std::optional<Levels>& levels,
                std::span<const std::int64_t> sizes) const noexcept;
  /// Throws UsageError for a wrong count of sizes, a size below 1, and a problem that the target
  /// refuses.
  void check(std::span<const std::int64_t> sizes) const;
  Problem problem_with(std::span<const std::int64_t> sizes) const;
  /// Checks the sizes, and leaves out free ones that have the value of their default.
  Problem problem_for(std::span<const std::int64_t> sizes) const;
};

/// The levels of a stored text. nullopt if it is not a configuration of the target.
std::optional<Levels> levels_in(const Target& target, std::string_view configuration);

/// False also where a constraint cannot be evaluated.
bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept;

}  // namespace autotune
