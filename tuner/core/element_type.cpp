// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/element_type.hpp"

#include <array>
#include <cmath>

namespace autotune {
namespace {

struct Properties {
  std::string_view name, cpp_name;
  std::int64_t bytes;
  double unit_roundoff;  // 0: an integer type
  double largest;
};

/// In the order of ElementType.
constexpr std::array<Properties, 14> kTypes = {{
    {"f32", "float", 4, 0x1p-24, 0x1.fffffep127},
    {"f64", "double", 8, 0x1p-53, 0x1.fffffffffffffp1023},
    {"i32", "int", 4, 0, 0x1p31 - 1},
    {"i64", "long long", 8, 0, 0x1.fffffffffffffp62},
    {"f16", "__half", 2, 0x1p-11, 65504},
    {"bf16", "__nv_bfloat16", 2, 0x1p-8, 0x1.fep127},
    {"i8", "signed char", 1, 0, 127},
    {"u8", "unsigned char", 1, 0, 255},
    {"i16", "short", 2, 0, 32767},
    {"u16", "unsigned short", 2, 0, 65535},
    {"u32", "unsigned int", 4, 0, 0x1p32 - 1},
    {"u64", "unsigned long long", 8, 0, 0x1.fffffffffffffp62},  // manifests state them as i64
    {"e4m3", "__nv_fp8_e4m3", 1, 0x1p-4, 448},
    {"e5m2", "__nv_fp8_e5m2", 1, 0x1p-3, 57344},
}};

static_assert(kTypes.size() == static_cast<std::size_t>(kLastElementType) + 1);

const Properties& of(ElementType type) { return kTypes[static_cast<std::size_t>(type)]; }

bool is_unsigned(ElementType type) { return name_of(type).front() == 'u'; }

/// A floating type whose sums are f32.
bool is_narrow(ElementType type) { return unit_roundoff(type) > 0x1p-24; }

}  // namespace

std::int64_t bytes_of(ElementType type) { return of(type).bytes; }

std::string_view name_of(ElementType type) { return of(type).name; }

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const Properties& each : kTypes) names.emplace_back(each.name);
  return names;
}

std::string element_types() {
  std::string text;
  for (const Properties& each : kTypes) text.append(text.empty() ? "" : ", ").append(each.name);
  return text;
}

std::string unknown_type(std::string_view name) {
  std::string text(name);
  text += " is not an element type (" + element_types() + ")";
  if (name.ends_with("fnuz") || name.ends_with("FNUZ")) {
    text +=
        "; NVIDIA's GPUs do not have it, and its codes have other values than those of e4m3 and "
        "e5m2: convert the numbers";
  }
  return text;
}

std::string_view cpp_name_of(ElementType type) { return of(type).cpp_name; }

std::optional<ElementType> element_type(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

bool is_floating(ElementType type) { return of(type).unit_roundoff > 0; }

double unit_roundoff(ElementType type) { return of(type).unit_roundoff; }

double sum_roundoff(ElementType type) {
  return unit_roundoff(is_narrow(type) ? ElementType::f32 : type);
}

double least(ElementType type) {
  if (is_floating(type)) return -largest(type);
  return is_unsigned(type) ? 0 : -std::ldexp(1.0, static_cast<int>(8 * bytes_of(type)) - 1);
}

double largest(ElementType type) { return of(type).largest; }

bool holds(ElementType type, std::int64_t value) {
  if (type == ElementType::i64) return true;
  if (type == ElementType::u64) return value >= 0;
  const auto real = static_cast<double>(value);
  return real >= least(type) && real <= largest(type);
}

double exact_integers(ElementType type) {
  return is_narrow(type) ? 1 / unit_roundoff(type) : 0x1p23;
}

}  // namespace autotune
