// SPDX-License-Identifier: Apache-2.0
// Poison, red zones and the element-wise comparison, alike on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/core/device.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

/// The byte that, repeated, poisons an element: NaN for floating types, a pattern that no small
/// result equals for integers. A device may set its memory to it directly.
std::byte poison_byte(ElementType type);
void poison(std::span<std::byte> bytes, ElementType type);
/// The byte that, repeated, is what a workspace holds before a run: zeros where its fill asks for
/// them, else poison.
std::byte workspace_byte(const BufferSpec& workspace);

/// Bytes of red zone on each side of a buffer, and what they hold.
inline constexpr std::int64_t kRedZoneBytes = 4096;
inline constexpr std::byte kRedZoneByte{0xA5};

/// Wrong when a byte of either zone was changed; `before` ends where the buffer starts, `after`
/// starts where it ends: `wrote C[4096], outside C[0..4095]; 8 bytes round C changed`.
Verdict check_red_zones(const BufferSpec& buffer, std::span<const std::byte> before,
                        std::span<const std::byte> after);

/// Outputs and inouts.
bool is_compared(Role role);

/// What a reference writes in place of an output: its own type, or f64 for f32.
ElementType answer_type(const Workload& workload, const BufferSpec& output);

/// The right answer of one output.
struct Expected {
  ElementType type = ElementType::f64;  // of these elements: the output's own, or f64 for f32
  std::span<const std::byte> values;
  /// What the error of each scales with: the reference on absolute inputs. Empty: the value.
  std::span<const std::byte> magnitudes = {};
  bool exact = false;  // floating types: no rounding is allowed
};

/// Whether every order of summing them is exact: integers below 2^23.
bool all_small_integers(ElementType type, std::span<const std::byte> values);

/// An element is right when |c - r| <= tolerance * u * magnitude + one rounding of r itself. It
/// must be equal where `exact`, and in integer types. NaN never passes.
Allowance allowance(const BufferSpec& buffer, bool exact);

/// Compares `count` elements from `first` on; indices in what is found are the buffer's.
Finding compare_elements(const BufferSpec& buffer, std::span<const std::byte> got,
                         const Expected& expected, std::int64_t first, std::int64_t count);
/// The same for two runs on the same inputs, of which no bit may differ.
Finding compare_bits(ElementType type, std::span<const std::byte> one,
                     std::span<const std::byte> other, std::int64_t first, std::int64_t count);
/// Adds what was found in another part.
void add(Finding& to, const Finding& more);

/// The verdict on what a comparison of all elements found; `got` and `expected` hold the first
/// wrong element and nothing else. It says so where the reference has left the buffer's poison
/// there.
Verdict verdict_of(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> got,
                   const Expected& expected);
/// Nondeterministic when anything differed; `one` and `other` hold the first such element.
Verdict runs_verdict(const BufferSpec& buffer, const Finding& found, std::span<const std::byte> one,
                     std::span<const std::byte> other);

/// The first wrong element and nothing else.
std::span<const std::byte> element_of(ElementType type, std::span<const std::byte> bytes,
                                      const Finding& found);
Expected element_of(const Expected& expected, const Finding& found);

/// All of it: compares every element.
Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected);
Verdict compare_runs(const BufferSpec& buffer, std::span<const std::byte> one,
                     std::span<const std::byte> other);

}  // namespace autotune
