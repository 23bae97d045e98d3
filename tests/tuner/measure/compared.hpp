// SPDX-License-Identifier: Apache-2.0
// A comparison of given elements with right ones.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "tuner/measure/verification.hpp"

namespace autotune {

inline BufferSpec floats(std::int64_t length, double tolerance = 0) {
  return {"C", ElementType::f32, length, Role::output, Fill::random, tolerance};
}

template <class T>
std::span<const std::byte> bytes_in(const std::vector<T>& elements) {
  return std::as_bytes(std::span(elements));
}

/// What `T` elements must be.
template <class T>
struct Right {
  std::vector<T> values;
  std::vector<T> magnitudes = {};
  bool exact = false;
};

/// Right answers of float are doubles.
template <class T>
using RightOf = Right<std::conditional_t<std::is_same_v<T, float>, double, T>>;

template <class T>
Verdict compared(const BufferSpec& buffer, std::vector<T> got, const RightOf<T>& right) {
  const ElementType type = buffer.type == ElementType::f32 ? ElementType::f64 : buffer.type;
  return compare(buffer, bytes_in(got),
                 {type, bytes_in(right.values), bytes_in(right.magnitudes), right.exact});
}

}  // namespace autotune
