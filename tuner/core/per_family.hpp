// SPDX-License-Identifier: Apache-2.0
// One object for each family of a target, made at first use. In it, the family parameter is a
// constant, so that expressions of other families are folded away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// A target without families counts as one family. Thread-safe.
template <class T>
class PerFamily {
 public:
  explicit PerFamily(const Target& target)
      : parameter_(target.family),
        count_(parameter_ ? target.parameters[*parameter_].values.size() : 1),
        families_(std::make_unique<Family[]>(count_)) {}

  std::size_t count() const { return count_; }
  std::size_t index_of(std::span<const std::uint16_t> levels) const {
    return parameter_ ? levels[*parameter_] : 0;
  }
  /// The level that the family's name table treats as a constant.
  std::optional<FixedLevel> fixed(std::size_t index) const {
    if (!parameter_) return std::nullopt;
    return FixedLevel{*parameter_, static_cast<std::uint16_t>(index)};
  }
  /// `make(optional)` sets the object of a family that is asked for the first time.
  template <class Make>
  const T& at(std::size_t index, const Make& make) const {
    Family& family = families_[index];
    std::call_once(family.is_made, [&] { make(family.value); });
    return *family.value;
  }

 private:
  struct Family {
    std::once_flag is_made;
    std::optional<T> value;
  };

  std::optional<std::size_t> parameter_;
  std::size_t count_;
  std::unique_ptr<Family[]> families_;
};

}  // namespace autotune
