// SPDX-License-Identifier: Apache-2.0
// The types of array elements and scalars that kernels take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/narrow_float.hpp"

namespace autotune {

/// Numbers travel between processes: new types come last.
enum class ElementType : std::uint8_t {
  f32,
  f64,
  i32,
  i64,
  f16,
  bf16,
  i8,
  u8,
  i16,
  u16,
  u32,
  u64,
  e4m3,
  e5m2
};
/// The last one.
inline constexpr ElementType kLastElementType = ElementType::e5m2;

std::int64_t bytes_of(ElementType type);
/// `f32`, `f64`, `i32`, `i64`, `f16`, `bf16`, `i8`, `u8`, `i16`, `u16`, `u32`, `u64`, `e4m3`,
/// `e5m2`.
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type(std::string_view name);
std::vector<std::string> element_type_names();
/// All names, for messages: `f32, f64, …`.
std::string element_types();
/// Of a name that is no type's: why, and which types there are.
std::string unknown_type(std::string_view name);
/// As the source spells it: `float`, `long long`, `__half`, `__nv_bfloat16`, `signed char`, …
std::string_view cpp_name_of(ElementType type);
bool is_floating(ElementType type);
/// Unit roundoff: 2^-24 for f32, 2^-53 for f64, 2^-11 for f16, 2^-8 for bf16, 2^-4 for
/// e4m3, 2^-3 for e5m2, 0 for integers.
double unit_roundoff(ElementType type);
/// The unit roundoff of sums: kernels add 16 and 8 bits in f32, other types in the type itself.
double sum_roundoff(ElementType type);
/// The least and the largest number of a type that is finite.
double least(ElementType type);
double largest(ElementType type);
/// Whether an integer type has this number.
bool holds(ElementType type, std::int64_t value);
/// Sums of integers are exact in any order if their magnitude stays below this.
double exact_integers(ElementType type);

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
    case ElementType::f16:
      return work(Float16{});
    case ElementType::bf16:
      return work(BFloat16{});
    case ElementType::i8:
      return work(std::int8_t{});
    case ElementType::u8:
      return work(std::uint8_t{});
    case ElementType::i16:
      return work(std::int16_t{});
    case ElementType::u16:
      return work(std::uint16_t{});
    case ElementType::u32:
      return work(std::uint32_t{});
    case ElementType::u64:
      return work(std::uint64_t{});
    case ElementType::e4m3:
      return work(Float8E4M3{});
    case ElementType::e5m2:
      return work(Float8E5M2{});
    case ElementType::i64:
      break;
  }
  return work(std::int64_t{});
}

}  // namespace autotune
