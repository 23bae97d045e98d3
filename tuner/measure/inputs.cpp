// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/inputs.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fstream>
#include <limits>
#include <type_traits>

#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/measure/gaps.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::uint64_t stream_key(const BufferSpec& buffer, InputSet set, std::uint64_t seed) {
  std::uint64_t key = 0xcbf29ce484222325;  // FNV-1a of the name
  for (const char letter : buffer.name) {
    key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return mix(key ^ mix(seed * 2 + static_cast<std::uint64_t>(set)));
}

Drawing drawing_of(Fill fill, InputSet set) {
  switch (fill) {
    case Fill::zero:
    case Fill::prepared:
      return Drawing::zero;
    case Fill::one:
      return Drawing::one;
    case Fill::iota:
      return Drawing::iota;
    case Fill::uniform:
      return Drawing::between;
    case Fill::normal:
      return Drawing::normal;
    case Fill::value:
      return Drawing::value;
    case Fill::range:
      return Drawing::range;
    case Fill::integers:
      return Drawing::integers_between;
    case Fill::random:
      break;
  }
  return set == InputSet::integers ? Drawing::integers : Drawing::uniform;
}

template <Drawing drawing>
using Known = std::integral_constant<Drawing, drawing>;

/// Calls work() with the generator as a compile-time constant, so that loops contain no switch.
template <class Work>
void with_drawing(Drawing drawing, const Work& work) {
  switch (drawing) {
    case Drawing::integers:
      return work(Known<Drawing::integers>{});
    case Drawing::uniform:
      return work(Known<Drawing::uniform>{});
    case Drawing::zero:
      return work(Known<Drawing::zero>{});
    case Drawing::one:
      return work(Known<Drawing::one>{});
    case Drawing::iota:
      return work(Known<Drawing::iota>{});
    case Drawing::between:
      return work(Known<Drawing::between>{});
    case Drawing::normal:
      return work(Known<Drawing::normal>{});
    case Drawing::value:
      return work(Known<Drawing::value>{});
    case Drawing::range:
      return work(Known<Drawing::range>{});
    case Drawing::integers_between:
      return work(Known<Drawing::integers_between>{});
  }
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
