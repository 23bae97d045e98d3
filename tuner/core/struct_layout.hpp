// SPDX-License-Identifier: Apache-2.0
// Structs, laid out as C++ does: each member at the next multiple of its alignment, and the whole
// padded to a multiple of the largest. Members that are structs, arrays or vectors are flat lists
// of their own members here: `inner.by`, `w[2]`, `v.x`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tuner/core/element_type.hpp"

namespace autotune {

struct Member {
  std::string name;
  ElementType type = ElementType::f32;
  std::int64_t offset = 0;     // bytes from the start of the struct
  std::int64_t alignment = 0;  // bytes; 0: that of its type
  friend bool operator==(const Member&, const Member&) = default;
};

/// Members `first` … `end` - 1, which C++ aligns as one: a struct, or a vector of 2 or 4 elements.
struct MemberGroup {
  std::size_t first = 0, end = 0;
  bool is_vector = false;
  friend bool operator==(const MemberGroup&, const MemberGroup&) = default;
};

/// The same members in their order, with their offsets and alignments.
std::vector<Member> laid_out(std::vector<Member> members,
                             const std::vector<MemberGroup>& groups = {});

/// The size of the struct in bytes, with its padding.
std::int64_t struct_bytes(const std::vector<Member>& members);

}  // namespace autotune
