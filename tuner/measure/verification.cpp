// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/verification.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Calls work(T{}) with the C++ type of `type`.
template <class Work>
auto with_type(ElementType type, Work work) {
  switch (type) {
    case ElementType::f32:
      return work(float{});
    case ElementType::f64:
      return work(double{});
    case ElementType::i32:
      return work(std::int32_t{});
    case ElementType::i64:
      break;
  }
  return work(std::int64_t{});
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t stream_key(const BufferSpec& buffer, InputSet set, std::uint64_t seed) {
  std::uint64_t key = 0xcbf29ce484222325;  // FNV-1a of the name
  for (const char letter : buffer.name) {
    key = (key ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return mix(key ^ mix(seed * 2 + static_cast<std::uint64_t>(set)));
}

/// Odd multiples of 2^-23 (2^-52 for double) in (-1, 1): exact, and never 0.
template <class T>
T uniform(std::uint64_t bits) {
  constexpr int kBits = std::is_same_v<T, float> ? 23 : 52;
  constexpr auto kScale = static_cast<T>(1.0 / (std::int64_t{1} << kBits));
  const auto odd = static_cast<std::int64_t>((bits >> (64 - kBits)) * 2 + 1);
  return static_cast<T>(odd - (std::int64_t{1} << kBits)) * kScale;
}

template <class T>
T small_integer(std::uint64_t bits, InputSet set) {
  if (set == InputSet::uniform) return static_cast<T>(static_cast<int>(bits >> 57) - 64);
  return static_cast<T>(static_cast<int>(((bits >> 32) * 5) >> 32) - 2);
}

template <class T>
T random_element(std::uint64_t bits, InputSet set) {
  if constexpr (std::is_floating_point_v<T>) {
    if (set == InputSet::uniform) return uniform<T>(bits);
  }
  return small_integer<T>(bits, set);
}

/// Elements first..first+count of the buffer's file. Throws Error.
template <class T>
void read_elements(T* to, std::int64_t first, std::int64_t count, const BufferSpec& buffer,
                   bool absolute) {
  std::ifstream file(buffer.file, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first * sizeof(T)));
  if (!file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)))) {
    throw Error(format("{}: it cannot be read, or ends before {} does ({} elements of {})",
                       buffer.file.string(), buffer.name, buffer.length, name_of(buffer.type)));
  }
  if (!absolute) return;
  std::transform(to, to + count, to, [](T element) { return element < 0 ? -element : element; });
}

/// Elements first..first+count of a buffer, to `to`.
template <class T>
void fill_elements(T* to, std::int64_t first, std::int64_t count, const BufferSpec& buffer,
                   InputSet set, std::uint64_t seed, bool absolute) {
  if (!buffer.file.empty()) return read_elements(to, first, count, buffer, absolute);
  switch (buffer.fill) {
    case Fill::zero:
      std::fill_n(to, count, T{0});
      return;
    case Fill::one:
      std::fill_n(to, count, T{1});
      return;
    case Fill::iota:
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(first + i);
      return;
    case Fill::random:
      break;
  }
  const std::uint64_t key = stream_key(buffer, set, seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto counter = static_cast<std::uint64_t>(first + i + 1) * 0x9e3779b97f4a7c15;
    const T element = random_element<T>(mix(key + counter), set);
    to[i] = absolute && element < 0 ? -element : element;
  }
}

template <class T>
T element_at(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

bool is_small_integer(double value) {
  constexpr double kLimit = 1 << 23;
  return std::abs(value) < kLimit && value == std::trunc(value);
}

bool must_be_exact(const BufferSpec& buffer, const Expected& expected, InputSet set) {
  if (!is_floating(buffer.type)) return true;
  return set == InputSet::integers && std::ranges::all_of(expected.values, is_small_integer) &&
         std::ranges::all_of(expected.magnitudes, is_small_integer);
}

/// How far each element may be off.
class Tolerance {
 public:
  Tolerance(const BufferSpec& buffer, const Expected& expected, InputSet set)
      : expected_(expected),
        exact_(must_be_exact(buffer, expected, set)),
        unit_(unit_roundoff(buffer.type)),
        factor_(buffer.tolerance * unit_) {}

  double at(std::size_t i) const {
    if (exact_) return 0;
    const double size = std::abs(expected_.values[i]);
    const double magnitude = expected_.magnitudes.empty() ? size : expected_.magnitudes[i];
    return factor_ * magnitude + unit_ * size;
  }

 private:
  const Expected& expected_;
  bool exact_;
  double unit_;
  double factor_;
};

/// |got - right| / tolerance; above 1 the element is wrong. Equal infinities are right.
double error_in_tolerances(double got, double right, double tolerance) {
  if (got == right) return 0;
  const double difference = std::abs(got - right);
  const double error = tolerance > 0 ? difference / tolerance : kInfinity;
  return std::isnan(error) || std::isinf(difference) ? kInfinity : error;
}

std::string tolerance_text(double tolerance) {
  return tolerance > 0 ? format("tolerance {:.2g}", tolerance) : "must be equal";
}

template <class T>
Verdict compare_as(const BufferSpec& buffer, std::span<const std::byte> got,
                   const Expected& expected, InputSet set) {
  const Tolerance tolerance(buffer, expected, set);
  Mismatch found;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    const auto value = static_cast<double>(element_at<T>(got, i));
    const double error = error_in_tolerances(value, expected.values[i], tolerance.at(i));
    found.worst_error = std::max(found.worst_error, error);
    if (error > 1 && found.wrong++ == 0) found.first = i;
  }
  if (found.wrong > 0) {
    found.expected = expected.values[found.first];
    found.tolerance = tolerance.at(found.first);
  }
  return verdict_of(buffer, got.subspan(found.first * sizeof(T)), found);
}

template <class T>
Verdict compare_runs_as(const BufferSpec& buffer, std::span<const std::byte> first,
                        std::span<const std::byte> again) {
  const auto length = static_cast<std::size_t>(buffer.length);
  std::size_t differing = 0, index = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const std::size_t at = i * sizeof(T);
    if (std::memcmp(first.data() + at, again.data() + at, sizeof(T)) == 0) continue;
    if (differing++ == 0) index = i;
  }
  if (differing == 0) return {};
  return {Outcome::nondeterministic,
          format("{}[{}] is {} in one run and {} in the next on the same inputs; {} of {} elements "
                 "differ",
                 buffer.name, index, element_at<T>(first, index), element_at<T>(again, index),
                 differing, length),
          0};
}

Verdict wrong(std::string message) { return {Outcome::wrong, std::move(message), kInfinity}; }

template <class T>
Verdict check_unchanged_as(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                           std::uint64_t seed) {
  // A file is read at once, not opened for each block.
  std::vector<T> block(buffer.file.empty() ? 1024 : static_cast<std::size_t>(buffer.length));
  for (std::int64_t start = 0; start < buffer.length; start += std::ssize(block)) {
    const std::int64_t count = std::min(std::ssize(block), buffer.length - start);
    fill_elements<T>(block.data(), start, count, buffer, set, seed, false);
    const std::byte* const bytes = got.data() + start * sizeof(T);
    if (std::memcmp(bytes, block.data(), count * sizeof(T)) == 0) continue;
    for (std::int64_t i = 0;; ++i) {
      const T now = element_at<T>(got, start + i);
      if (std::memcmp(&now, &block[i], sizeof(T)) == 0) continue;
      return wrong(format("the input {0} was changed: {0}[{1}] was {2} and is {3}", buffer.name,
                          start + i, block[i], now));
    }
  }
  return {};
}

}  // namespace

void fill(std::span<std::byte> bytes, const BufferSpec& buffer, InputSet set, std::uint64_t seed,
          bool absolute) {
  assert(std::ssize(bytes) == buffer.bytes());
  with_type(buffer.type, [&](auto zero) {
    using T = decltype(zero);
    fill_elements(reinterpret_cast<T*>(bytes.data()), 0, buffer.length, buffer, set, seed,
                  absolute);
  });
}

std::byte poison_byte(ElementType type) {
  return is_floating(type) ? std::byte{0xFF} : std::byte{0xA5};
}

void poison(std::span<std::byte> bytes, ElementType type) {
  std::ranges::fill(bytes, poison_byte(type));
}

Verdict check_red_zones(const BufferSpec& buffer, std::span<const std::byte> before,
                        std::span<const std::byte> after) {
  const auto is_changed = [](std::byte byte) { return byte != kRedZoneByte; };
  const auto changed =
      std::ranges::count_if(before, is_changed) + std::ranges::count_if(after, is_changed);
  if (changed == 0) return {};
  const std::int64_t size = bytes_of(buffer.type);
  // Past the end is the commoner fault; before the start, the byte nearest to the buffer is named.
  const auto past = std::ranges::find_if(after, is_changed);
  std::int64_t index = buffer.length + (past - after.begin()) / size;
  if (past == after.end()) {
    const auto nearest = std::find_if(before.rbegin(), before.rend(), is_changed);
    index = -1 - (nearest - before.rbegin()) / size;
  }
  return wrong(format("wrote {0}[{1}], outside {0}[0..{2}]; {3} bytes round {0} changed",
                      buffer.name, index, buffer.length - 1, changed));
}

Verdict check_unchanged(const BufferSpec& buffer, std::span<const std::byte> got, InputSet set,
                        std::uint64_t seed) {
  assert(std::ssize(got) == buffer.bytes());
  return with_type(buffer.type, [&](auto zero) {
    return check_unchanged_as<decltype(zero)>(buffer, got, set, seed);
  });
}

Verdict compare(const BufferSpec& buffer, std::span<const std::byte> got, const Expected& expected,
                InputSet set) {
  assert(std::ssize(got) == buffer.bytes() && std::ssize(expected.values) == buffer.length);
  assert(expected.magnitudes.empty() || expected.magnitudes.size() == expected.values.size());
  return with_type(buffer.type, [&](auto zero) {
    return compare_as<decltype(zero)>(buffer, got, expected, set);
  });
}

Verdict verdict_of(const BufferSpec& buffer, std::span<const std::byte> element,
                   const Mismatch& mismatch) {
  if (mismatch.wrong == 0) return {Outcome::ok, "", mismatch.worst_error};
  const std::string got = with_type(buffer.type, [&](auto zero) {
    const auto value = element_at<decltype(zero)>(element, 0);
    return value == value ? format("{}", value) : "nan";  // whatever its sign
  });
  return {Outcome::wrong,
          format("{}[{}] is {}, expected {:.10g} ({}); {} of {} elements {} wrong", buffer.name,
                 mismatch.first, got, mismatch.expected, tolerance_text(mismatch.tolerance),
                 mismatch.wrong, buffer.length, mismatch.wrong == 1 ? "is" : "are"),
          mismatch.worst_error};
}

Verdict compare_runs(const BufferSpec& buffer, std::span<const std::byte> first,
                     std::span<const std::byte> again) {
  assert(std::ssize(first) == buffer.bytes() && first.size() == again.size());
  return with_type(buffer.type, [&](auto zero) {
    return compare_runs_as<decltype(zero)>(buffer, first, again);
  });
}

}  // namespace autotune
