// SPDX-License-Identifier: Apache-2.0
// Buffers with gaps between their elements: see BufferSpec::dims. They are filled and compared on
// the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/launch.hpp"

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

// Structs with members of several types: each member of all elements is a buffer of its own for
// fills and comparisons.

/// Member `index` of all structs as a buffer: `bodies.mass`.
BufferSpec member_buffer(const BufferSpec& structs, std::size_t index);

/// Its elements, without gaps.
std::vector<std::byte> member_elements(const BufferSpec& structs, std::size_t index,
                                       std::span<const std::byte> bytes);

/// Puts such elements into the structs. Other bytes stay.
void put_member(const BufferSpec& structs, std::size_t index, std::span<const std::byte> elements,
                std::span<std::byte> bytes);

// Private to this folder: access to elements of buffers by their C++ type.

template <class T>
T element_at(std::span<const std::byte> bytes, std::int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

/// The element as a type that `format` can print.
template <class T>
auto figure_of(T element) {
  return +element;  // float of 16 bits, int of 8
}

}  // namespace autotune
