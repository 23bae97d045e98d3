// SPDX-License-Identifier: Apache-2.0
// Buffers with gaps between their elements: see BufferSpec::dims. They are filled and compared on
// the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// The same elements without gaps.
BufferSpec without_gaps(BufferSpec buffer);

/// Where an element of without_gaps() lies in the buffer, in elements.
std::int64_t position_of(const BufferSpec& buffer, std::int64_t element);

/// The elements of a buffer, of `element_bytes` each, without gaps.
std::vector<std::byte> gathered(const BufferSpec& buffer, std::span<const std::byte> bytes,
                                std::int64_t element_bytes);
/// The inverse; gaps stay as they are. Of elements at one place, the last one stays.
void spread(std::span<std::byte> bytes, const BufferSpec& buffer,
            std::span<const std::byte> elements);

/// Outcome::wrong if a byte of a gap is not `painted`.
Verdict check_gaps(const BufferSpec& buffer, std::byte painted, std::span<const std::byte> bytes);

}  // namespace autotune
