// SPDX-License-Identifier: Apache-2.0
// Structs with members of several types, laid out as C++ does: each member at the next multiple of
// its size, and the whole padded to a multiple of the largest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/core/element_type.hpp"

namespace autotune {

struct Member {
  std::string name;
  ElementType type = ElementType::f32;
  std::int64_t offset = 0;  // bytes from the start of the struct
  friend bool operator==(const Member&, const Member&) = default;
};

/// The same members in their order, with their offsets.
std::vector<Member> laid_out(std::vector<Member> members);

/// The size of the struct in bytes, with its padding.
std::int64_t struct_bytes(const std::vector<Member>& members);

}  // namespace autotune
