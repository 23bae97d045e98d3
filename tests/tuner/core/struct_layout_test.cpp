// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace autotune {
namespace {

constexpr ElementType kF32 = ElementType::f32, kF64 = ElementType::f64, kI32 = ElementType::i32,
                      kI64 = ElementType::i64;

struct Mixed {
  float a;
  std::int64_t b;
  std::int32_t c;
  double d;
  float e;
};
struct Packed {
  float a;
  std::int32_t b;
  double c;
};

TEST(StructLayout, IsThatOfTheCompiler) {
  const auto mixed = laid_out({{"a", kF32}, {"b", kI64}, {"c", kI32}, {"d", kF64}, {"e", kF32}});
  EXPECT_EQ(mixed[0].offset, offsetof(Mixed, a));
  EXPECT_EQ(mixed[1].offset, offsetof(Mixed, b));
  EXPECT_EQ(mixed[2].offset, offsetof(Mixed, c));
  EXPECT_EQ(mixed[3].offset, offsetof(Mixed, d));
  EXPECT_EQ(mixed[4].offset, offsetof(Mixed, e));
  EXPECT_EQ(struct_bytes(mixed), sizeof(Mixed));
  const auto packed = laid_out({{"a", kF32}, {"b", kI32}, {"c", kF64}});
  EXPECT_EQ(packed[2].offset, offsetof(Packed, c));
  EXPECT_EQ(struct_bytes(packed), sizeof(Packed));
}

TEST(StructLayout, OfSmallMembersIsNotPadded) {
  EXPECT_EQ(struct_bytes(laid_out({{"a", kF32}, {"b", kI32}, {"c", kF32}})), 12);
}

}  // namespace
}  // namespace autotune
