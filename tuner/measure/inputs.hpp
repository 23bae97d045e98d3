// SPDX-License-Identifier: Apache-2.0
// What the buffers of a problem hold before a run, alike on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/core/device.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

/// `integers`: -2..2, so that sums are exact and a wrong index shows; `uniform`: in (-1, 1), never
/// 0, and -64..63 for integer types.
enum class InputSet : std::uint8_t { integers, uniform };

/// What the elements of a buffer without a file are drawn from: its fill, name and seed. `absolute`
/// takes |x| of each.
ElementRule element_rule(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                         bool absolute = false);

/// Fills `bytes` with elements first, first + 1, … of a buffer of this type.
void fill_elements(std::span<std::byte> bytes, ElementType type, const ElementRule& rule,
                   std::int64_t first = 0);

/// Fills a whole buffer. One with a file gets its contents, in both sets; throws Error when it
/// cannot be read.
void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute = false);

/// Wrong when the bytes of an input are no longer what fill() made.
Verdict check_unchanged(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                        std::uint64_t seed);

}  // namespace autotune
