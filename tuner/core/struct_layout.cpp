// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/struct_layout.hpp"

#include <algorithm>
#include <span>

namespace autotune {
namespace {

std::int64_t round_up(std::int64_t bytes, std::int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

constexpr std::int64_t kVectorAlignment = 16;  // of CUDA's vectors

std::int64_t alignment_of(const Member& member) {
  return member.alignment == 0 ? bytes_of(member.type) : member.alignment;
}

std::int64_t alignment_of(std::span<const Member> members) {
  std::int64_t alignment = 1;
  for (const Member& member : members) alignment = std::max(alignment, alignment_of(member));
  return alignment;
}

}  // namespace

std::vector<Member> laid_out(std::vector<Member> members, const std::vector<MemberGroup>& groups) {
  const auto in = [&](const MemberGroup& group) {
    return std::span(members).subspan(group.first, group.end - group.first);
  };
  for (const MemberGroup& group : groups) {
    if (!group.is_vector) continue;
    const std::int64_t bytes = bytes_of(in(group).front().type) * std::ssize(in(group));
    in(group).front().alignment = std::min(bytes, kVectorAlignment);
  }
  std::int64_t end = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const MemberGroup& group : groups) {
      if (group.first == i) end = round_up(end, alignment_of(in(group)));
    }
    members[i].offset = round_up(end, alignment_of(members[i]));
    end = members[i].offset + bytes_of(members[i].type);
    for (const MemberGroup& group : groups) {
      if (group.end == i + 1) end = round_up(end, alignment_of(in(group)));
    }
  }
  return members;
}

std::int64_t struct_bytes(const std::vector<Member>& members) {
  return round_up(members.back().offset + bytes_of(members.back().type), alignment_of(members));
}

}  // namespace autotune
