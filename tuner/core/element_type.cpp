// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/element_type.hpp"

#include <array>

namespace autotune {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"f32", "f64", "i32", "i64"};
constexpr std::array<std::string_view, 4> kCppNames = {"float", "double", "int", "long long"};

}  // namespace

std::int64_t bytes_of(ElementType type) {
  return type == ElementType::f32 || type == ElementType::i32 ? 4 : 8;
}

std::string_view name_of(ElementType type) { return kNames[static_cast<std::size_t>(type)]; }

std::vector<std::string> element_type_names() { return {kNames.begin(), kNames.end()}; }

std::string element_types() {
  std::string text;
  for (const std::string_view name : kNames) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string_view cpp_name_of(ElementType type) { return kCppNames[static_cast<std::size_t>(type)]; }

std::optional<ElementType> element_type(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

bool is_floating(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

double unit_roundoff(ElementType type) {
  if (type == ElementType::f32) return 0x1p-24;
  if (type == ElementType::f64) return 0x1p-53;
  return 0;
}

}  // namespace autotune
