// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/struct_layout.hpp"

#include <algorithm>

namespace autotune {
namespace {

std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

std::vector<Member> laid_out(std::vector<Member> members) {
  std::int64_t end = 0;
  for (Member& member : members) {
    member.offset = round_up(end, bytes_of(member.type));
    end = member.offset + bytes_of(member.type);
  }
  return members;
}

std::int64_t struct_bytes(const std::vector<Member>& members) {
  std::int64_t alignment = 1;
  for (const Member& member : members) alignment = std::max(alignment, bytes_of(member.type));
  return round_up(members.back().offset + bytes_of(members.back().type), alignment);
}

}  // namespace autotune
