// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/members.hpp"

#include <cstring>

namespace autotune {
namespace {

/// Calls visit(byte of the struct's member, byte of the member's own array) for each element.
template <class Visit>
void each_element(const BufferSpec& structs, const Member& member, const Visit& visit) {
  const auto stride = static_cast<std::size_t>(structs.element_bytes());
  const auto size = static_cast<std::size_t>(bytes_of(member.type));
  for (std::size_t i = 0; i < static_cast<std::size_t>(structs.length); ++i) {
    visit(i * stride + static_cast<std::size_t>(member.offset), i * size, size);
  }
}

}  // namespace

BufferSpec member_buffer(const BufferSpec& structs, std::size_t index) {
  BufferSpec buffer = structs;
  const Member& member = structs.members[index];
  buffer.name += '.' + member.name;
  buffer.type = member.type;
  buffer.members.clear();
  buffer.file.clear();
  return buffer;
}

std::vector<std::byte> member_elements(const BufferSpec& structs, std::size_t index,
                                       std::span<const std::byte> bytes) {
  const Member& member = structs.members[index];
  std::vector<std::byte> elements(static_cast<std::size_t>(structs.length * bytes_of(member.type)));
  each_element(structs, member, [&](std::size_t in_struct, std::size_t at, std::size_t size) {
    std::memcpy(&elements[at], &bytes[in_struct], size);
  });
  return elements;
}

void put_member(const BufferSpec& structs, std::size_t index, std::span<const std::byte> elements,
                std::span<std::byte> bytes) {
  each_element(structs, structs.members[index],
               [&](std::size_t in_struct, std::size_t at, std::size_t size) {
                 std::memcpy(&bytes[in_struct], &elements[at], size);
               });
}

}  // namespace autotune
