// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/gaps.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Calls work(position) for the first element of each line, in order.
template <class Work>
void for_each_line(const BufferSpec& buffer, const Work& work) {
  const std::int64_t lines = buffer.elements() / buffer.dims.front();
  for (std::int64_t line = 0; line < lines; ++line) {
    work(position_of(buffer, line * buffer.dims.front()));
  }
}

}  // namespace

BufferSpec without_gaps(BufferSpec buffer) {
  buffer.length = buffer.elements();
  buffer.dims.clear();
  buffer.strides.clear();
  return buffer;
}

std::int64_t position_of(const BufferSpec& buffer, std::int64_t element) {
  if (!buffer.has_gaps()) return element;
  std::int64_t position = element % buffer.dims.front();
  std::int64_t left = element / buffer.dims.front();
  for (std::size_t i = 1; i < buffer.dims.size(); ++i) {
    position += left % buffer.dims[i] * buffer.strides[i - 1];
    left /= buffer.dims[i];
  }
  return position;
}

std::vector<std::byte> gathered(const BufferSpec& buffer, std::span<const std::byte> bytes,
                                std::int64_t element_bytes) {
  std::vector<std::byte> elements;
  elements.reserve(static_cast<std::size_t>(buffer.elements() * element_bytes));
  for_each_line(buffer, [&](std::int64_t position) {
    const auto line = bytes.subspan(static_cast<std::size_t>(position * element_bytes),
                                    static_cast<std::size_t>(buffer.dims.front() * element_bytes));
    elements.insert(elements.end(), line.begin(), line.end());
  });
  return elements;
}

void spread(std::span<std::byte> bytes, const BufferSpec& buffer,
            std::span<const std::byte> elements) {
  const std::int64_t size = buffer.element_bytes();
  const auto line = static_cast<std::size_t>(buffer.dims.front() * size);
  std::size_t at = 0;
  for_each_line(buffer, [&](std::int64_t position) {
    std::memcpy(bytes.data() + position * size, elements.data() + at, line);
    at += line;
  });
}

Verdict check_gaps(const BufferSpec& buffer, std::byte painted, std::span<const std::byte> bytes) {
  std::vector<bool> is_element(static_cast<std::size_t>(buffer.length));
  for_each_line(buffer, [&](std::int64_t position) {
    std::fill_n(is_element.begin() + position, buffer.dims.front(), true);
  });
  const std::int64_t size = buffer.element_bytes();
  std::int64_t first = 0, changed = 0;
  for (std::int64_t at = buffer.length - 1; at >= 0; --at) {
    if (is_element[static_cast<std::size_t>(at)]) continue;
    const auto element =
        bytes.subspan(static_cast<std::size_t>(at * size), static_cast<std::size_t>(size));
    if (std::ranges::all_of(element, [&](std::byte byte) { return byte == painted; })) continue;
    first = at;
    ++changed;
  }
  if (changed == 0) return {};
  return {
      Outcome::wrong,
      format("wrote {0}[{1}], which is between the lines of {0} (dims {2}, strides {3}): {4} "
             "such elements changed, and must stay as they were",
             buffer.name, first, joined(buffer.dims, ", "), joined(buffer.strides, ", "), changed),
      std::numeric_limits<double>::infinity()};
}

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
