// SPDX-License-Identifier: Apache-2.0
// Inputs, poison and the element-wise comparison, alike on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// `integers`: small ones, so that sums are exact and a wrong index shows; `uniform`: in (-1, 1).
enum class InputSet : std::uint8_t { integers, uniform };

/// Fills the bytes of a buffer from (seed, name, element index); `absolute` takes |x| of each.
void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute = false);

/// NaN in every element; for integers a pattern that no small result equals.
void poison(std::span<std::byte> bytes, ElementType type);

/// Bytes of red zone on each side of a buffer, and what they hold.
inline constexpr std::int64_t kRedZoneBytes = 4096;
inline constexpr std::byte kRedZoneByte{0xA5};

/// The right answer of one output: elements as double, and what each one's error scales with (the
/// reference run on absolute inputs; empty means |value|).
struct Expected {
  std::vector<double> values;
  std::vector<double> magnitudes;
};

/// Compares every element; NaN never passes. An element is right when |c - r| <= tolerance * u *
/// magnitude (+ one rounding of r itself); on the integer set, and for integer types, exactly equal
/// when all of `expected` is integers below 2^23.
Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected,
                InputSet set);

}  // namespace autotune
