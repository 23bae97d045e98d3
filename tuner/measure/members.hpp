// SPDX-License-Identifier: Apache-2.0
// Structs with members of several types: each member of all elements is a buffer of its own for
// fills and comparisons.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Member `index` of all structs as a buffer: `bodies.mass`.
BufferSpec member_buffer(const BufferSpec& structs, std::size_t index);

/// Its elements, without gaps.
std::vector<std::byte> member_elements(const BufferSpec& structs, std::size_t index,
                                       std::span<const std::byte> bytes);

/// Puts such elements into the structs. Other bytes stay.
void put_member(const BufferSpec& structs, std::size_t index, std::span<const std::byte> elements,
                std::span<std::byte> bytes);

}  // namespace autotune
