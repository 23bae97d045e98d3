// SPDX-License-Identifier: Apache-2.0
// The initial content of a problem's buffers, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/measure/elements.hpp"

namespace autotune {

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
