// SPDX-License-Identifier: Apache-2.0
// Inputs, poison, red zones and the element-wise comparison, alike on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// `integers`: -2..2, so that sums are exact and a wrong index shows; `uniform`: in (-1, 1), never
/// 0, and -64..63 for integer types.
enum class InputSet : std::uint8_t { integers, uniform };

/// Fills the bytes of a buffer from (seed, name, element index); `absolute` takes |x| of each. What
/// an element gets depends on nothing else: not on the length, the device or the run. A buffer with
/// a file gets its contents, in both sets; throws Error when it cannot be read.
void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute = false);

/// The byte that, repeated, poisons an element: NaN for floating types, a pattern that no small
/// result equals for integers. A device may set its memory to it directly.
std::byte poison_byte(ElementType type);
void poison(std::span<std::byte> bytes, ElementType type);

/// Bytes of red zone on each side of a buffer, and what they hold.
inline constexpr std::int64_t kRedZoneBytes = 4096;
inline constexpr std::byte kRedZoneByte{0xA5};

/// Wrong when a byte of either zone was changed; `before` ends where the buffer starts, `after`
/// starts where it ends: `wrote C[4096], outside C[0..4095]; 8 bytes round C changed`.
Verdict check_red_zones(const BufferSpec& buffer, std::span<const std::byte> before,
                        std::span<const std::byte> after);

/// Wrong when the bytes of an input are no longer what fill() made.
Verdict check_unchanged(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                        std::uint64_t seed);

/// The right answer of one output: elements as double, and what each one's error scales with (the
/// reference run on absolute inputs; empty means |value|).
struct Expected {
  std::vector<double> values;
  std::vector<double> magnitudes;
};

/// Compares every element; NaN never passes. An element is right when |c - r| <= tolerance * u *
/// magnitude + one rounding of r itself. It must be exactly equal for integer types, and on the
/// integer set when all of `expected` is integers below 2^23 (then any order of summing is exact).
/// `worst_error` is infinite for NaN and for an inexact element that must be exact.
Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected,
                InputSet set);

/// What a comparison by the same rule found where the data lies, such as on a GPU.
struct Mismatch {
  std::size_t wrong = 0;  // elements
  std::size_t first = 0;  // index of the first wrong one
  double expected = 0;    // there
  double tolerance = 0;   // there; 0: must be equal
  double worst_error = 0;
};

/// The verdict in compare()'s words; `element` holds the first wrong element.
Verdict verdict_of(const BufferSpec& buffer, std::span<const std::byte> element,
                   const Mismatch& mismatch);

/// Nondeterministic when two runs on the same inputs differ in any bit.
Verdict compare_runs(const BufferSpec& buffer, std::span<const std::byte> first,
                     std::span<const std::byte> again);

}  // namespace autotune
