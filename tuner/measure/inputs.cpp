// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/inputs.hpp"

#include <algorithm>
#include <cassert>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>

#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/measure/verification.hpp"
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

namespace {

std::uint64_t stream_key(const BufferSpec& buffer, InputSet set, std::uint64_t seed) {
  std::uint64_t key = 0xcbf29ce484222325;  // FNV-1a of the name
  for (const char letter : buffer.name) {
    key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return mix(key ^ mix(seed * 2 + static_cast<std::uint64_t>(set)));
}

Drawing drawing_of(Fill fill, InputSet set) {
  if (fill == Fill::random && set == InputSet::integers) return Drawing::integers;
  static constexpr Drawing kDrawings[] = {
      // in the order of Fill
      Drawing::uniform, Drawing::zero,  Drawing::iota,  Drawing::one,  Drawing::between,
      Drawing::normal,  Drawing::value, Drawing::range, Drawing::zero, Drawing::integers_between};
  return kDrawings[static_cast<std::size_t>(fill)];
}

template <Drawing drawing>
using Known = std::integral_constant<Drawing, drawing>;

/// Calls work() with the generator as a compile-time constant, so that loops contain no switch.
template <class Work, int last = static_cast<int>(Drawing::integers_between)>
void with_drawing(Drawing drawing, const Work& work) {
  if (drawing == Drawing{last}) return work(Known<Drawing{last}>{});
  if constexpr (last > 0) with_drawing<Work, last - 1>(drawing, work);
}

void read_file(std::span<std::byte> bytes, const BufferSpec& buffer) {
  std::ifstream file(buffer.file, std::ios::binary);
  file.seekg(buffer.file_offset);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes))) {
    throw Error(format("{}: it cannot be read, or ends before {} does ({} elements of {})",
                       buffer.file.string(), buffer.name, buffer.length, type_text(buffer)));
  }
}

/// The verdict on changed inputs. It names the first element that differs; `first` is the index of
/// element 0 of these bytes.
template <class T>
Verdict first_change(const BufferSpec& buffer, std::span<const std::byte> was,
                     std::span<const std::byte> is, std::int64_t first) {
  if (std::memcmp(was.data(), is.data(), was.size()) == 0) return {};
  const auto different = std::ranges::mismatch(was, is).in1 - was.begin();
  const auto index = different / static_cast<std::int64_t>(sizeof(T));
  return {
      Outcome::wrong,
      format("the input {0} was changed: {0}[{1}] was {2} and is {3}", buffer.name, first + index,
             figure_of(element_at<T>(was, index)), figure_of(element_at<T>(is, index))),
      std::numeric_limits<double>::infinity()};
}

template <class T>
Verdict check_unchanged_as(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                           std::uint64_t seed) {
  constexpr std::int64_t kBlock = 1 << 16;
  // A file is read at once, not opened for each block.
  const bool in_file = !buffer.file.empty();
  std::vector<std::byte> block((in_file ? buffer.length : kBlock) * sizeof(T));
  if (in_file) fill(block, buffer, set, seed);
  const ElementRule rule = element_rule(buffer, set, seed);
  Verdict verdict;
  for (std::size_t at = 0; at < got.size() && verdict.outcome == Outcome::ok; at += block.size()) {
    const std::span was(block.data(), std::min(block.size(), got.size() - at));
    const auto first = static_cast<std::int64_t>(at / sizeof(T));
    if (!in_file) fill_elements(was, buffer.type, rule, first);
    verdict = first_change<T>(buffer, was, got.subspan(at, was.size()), first);
  }
  return verdict;
}

/// Padding is zero.
void fill_members(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set,
                  std::uint64_t seed, bool absolute) {
  std::ranges::fill(bytes, std::byte{0});
  for (std::size_t i = 0; i < buffer.members.size(); ++i) {
    const BufferSpec member = member_buffer(buffer, i);
    std::vector<std::byte> elements(static_cast<std::size_t>(member.bytes()));
    fill(elements, member, set, seed, absolute);
    put_member(buffer, i, elements, bytes);
  }
}

Verdict check_members_unchanged(const BufferSpec& buffer, std::span<const std::byte> got,
                                InputSet set, std::uint64_t seed,
                                std::span<const std::byte> prepared) {
  std::vector<std::byte> was(prepared.begin(), prepared.end());
  if (was.empty()) {
    was.resize(got.size());
    fill(was, buffer, set, seed);
  }
  for (std::size_t i = 0; i < buffer.members.size(); ++i) {
    const Verdict verdict =
        check_unchanged(member_buffer(buffer, i), member_elements(buffer, i, got), set, seed,
                        member_elements(buffer, i, was));
    if (verdict.outcome != Outcome::ok) return verdict;
  }
  return {};
}

}  // namespace

std::span<const std::byte> PreparedInputs::of(InputSet set, std::size_t buffer) const {
  const auto found = elements_.find({set, buffer});
  return found == elements_.end() ? std::span<const std::byte>() : found->second;
}

void PreparedInputs::keep(InputSet set, std::size_t buffer, std::span<const std::byte> elements) {
  elements_[{set, buffer}].assign(elements.begin(), elements.end());
}

void make_absolute(std::span<std::byte> bytes, const BufferSpec& buffer) {
  for (std::size_t i = 0; i < buffer.members.size(); ++i) {
    std::vector<std::byte> elements = member_elements(buffer, i, bytes);
    make_absolute(elements, member_buffer(buffer, i));
    put_member(buffer, i, elements, bytes);
  }
  if (!buffer.members.empty()) return;
  with_type(buffer.type, [&](auto zero) {
    using T = decltype(zero);
    auto* const elements = reinterpret_cast<T*>(bytes.data());
    std::transform(elements, elements + bytes.size() / sizeof(T), elements, absolute_of<T>);
  });
}

ElementRule element_rule(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                         bool absolute) {
  const std::vector<double>& values = buffer.fill_values;
  return {drawing_of(buffer.fill, set), absolute,
          stream_key(buffer, set, buffer.seed.value_or(seed)), values.empty() ? 0 : values.front(),
          values.empty() ? 0 : values.back()};
}

void fill_elements(std::span<std::byte> bytes, ElementType type, const ElementRule& rule,
                   std::int64_t first) {
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    const std::span to(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    with_drawing(rule.drawing, [&](auto drawing) {
      ElementRule known = rule;
      known.drawing = drawing;
      auto index = static_cast<unsigned long long>(first);
      for (T& element : to) element = filled_element<T>(known, index++);
    });
  });
}

void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute) {
  assert(std::ssize(bytes) == buffer.bytes());
  if (buffer.has_gaps()) {
    std::vector<std::byte> elements(
        static_cast<std::size_t>(buffer.elements() * buffer.element_bytes()));
    fill(elements, without_gaps(buffer), set, seed, absolute);
    poison(bytes, buffer, Poison::nan);
    spread(bytes, buffer, elements);
  } else if (!buffer.file.empty()) {
    read_file(bytes, buffer);
    if (absolute) make_absolute(bytes, buffer);
  } else if (!buffer.members.empty()) {
    fill_members(bytes, buffer, set, seed, absolute);
  } else {
    fill_elements(bytes, buffer.type, element_rule(buffer, set, seed, absolute));
  }
}

Verdict check_unchanged(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                        std::uint64_t seed, std::span<const std::byte> prepared) {
  assert(std::ssize(got) == buffer.bytes());
  if (!buffer.members.empty()) return check_members_unchanged(buffer, got, set, seed, prepared);
  return with_type(buffer.type, [&](auto zero) {
    if (!prepared.empty()) return first_change<decltype(zero)>(buffer, prepared, got, 0);
    if (buffer.has_gaps()) {
      std::vector<std::byte> was(got.size());
      fill(was, buffer, set, seed);
      return first_change<decltype(zero)>(buffer, was, got, 0);
    }
    return check_unchanged_as<decltype(zero)>(buffer, got, set, seed);
  });
}

bool has_integer_set(const Workload& workload) {
  return std::ranges::all_of(workload.buffers, [](const BufferSpec& buffer) {
    const bool is_filled = buffer.role == Role::input || buffer.role == Role::inout;
    return !is_filled || fills_with_integers(buffer);
  });
}

}  // namespace autotune
