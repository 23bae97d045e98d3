// SPDX-License-Identifier: Apache-2.0
// The types of array elements and scalars that kernels take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

enum class ElementType : std::uint8_t { f32, f64, i32, i64 };

std::int64_t bytes_of(ElementType type);
/// `f32`, `f64`, `i32`, `i64`.
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type(std::string_view name);
std::vector<std::string> element_type_names();
/// All names, for messages: `f32, f64, i32, i64`.
std::string element_types();
/// As the source spells it: `float`, `double`, `int`, `long long`.
std::string_view cpp_name_of(ElementType type);
bool is_floating(ElementType type);
/// Unit roundoff: 2^-24 for f32, 2^-53 for f64, 0 for integers.
double unit_roundoff(ElementType type);

}  // namespace autotune
