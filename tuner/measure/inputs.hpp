// SPDX-License-Identifier: Apache-2.0
// The initial content of a problem's buffers, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

// Buffers with gaps between their elements: see BufferSpec::dims. They are filled and compared on
// the host.

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

/// `integers`: -2..2, so that sums are exact and a wrong index shows. `uniform`: in (-1, 1) and
/// never 0; -64..63 for integer types, and all numbers of those of 8 bits.
enum class InputSet : std::uint8_t { integers, uniform };

/// How the elements of a buffer without a file are generated: from its fill, its name and the seed.
/// With `absolute`, |x| of each.
ElementRule element_rule(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                         bool absolute = false);

/// Fills `bytes` with the elements first, first + 1, … of a buffer of this type.
void fill_elements(std::span<std::byte> bytes, ElementType type, const ElementRule& rule,
                   std::int64_t first = 0);

/// The elements of prepared inputs, by input set and buffer; empty for other buffers.
class PreparedInputs {
 public:
  std::span<const std::byte> of(InputSet set, std::size_t buffer) const;
  void keep(InputSet set, std::size_t buffer, std::span<const std::byte> elements);

 private:
  std::map<std::pair<InputSet, std::size_t>, std::vector<std::byte>> elements_;
};

/// |x| of each element of a buffer.
void make_absolute(std::span<std::byte> bytes, const BufferSpec& buffer);

/// Fills a whole buffer. A buffer with a file gets the file's content in both sets. Throws Error if
/// the file cannot be read.
void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute = false);

/// Whether the integer set consists of integers: not so with files and some fills.
bool has_integer_set(const Workload& workload);

/// Wrong if an input no longer holds the bytes of fill(), or those that were prepared.
Verdict check_unchanged(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                        std::uint64_t seed, std::span<const std::byte> prepared = {});

}  // namespace autotune
