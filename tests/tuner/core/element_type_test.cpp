// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/element_type.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace autotune {
namespace {

TEST(ElementType, NamesRoundTrip) {
  for (const auto* name : {"f32", "f64", "i32", "i64", "f16", "bf16", "i8", "u8", "i16", "u16",
                           "u32", "u64", "e4m3", "e5m2"}) {
    ASSERT_TRUE(element_type(name));
    EXPECT_EQ(name_of(*element_type(name)), name);
  }
  EXPECT_FALSE(element_type("f8"));
}

TEST(ElementType, OfAmdsGpusAreRefused) {
  EXPECT_FALSE(element_type("e4m3fnuz"));
  EXPECT_THAT(unknown_type("e4m3fnuz"),
              ::testing::HasSubstr("its codes have other values than those of e4m3 and e5m2"));
  EXPECT_THAT(unknown_type("f8"), ::testing::Not(::testing::HasSubstr("NVIDIA")));
}

TEST(ElementType, KnowsBytesAndRoundoff) {
  EXPECT_EQ(bytes_of(ElementType::f32), 4);
  EXPECT_EQ(bytes_of(ElementType::i64), 8);
  EXPECT_EQ(unit_roundoff(ElementType::f32), 0x1p-24);
  EXPECT_EQ(unit_roundoff(ElementType::i32), 0);
  EXPECT_TRUE(is_floating(ElementType::f64));
  EXPECT_FALSE(is_floating(ElementType::i64));
  EXPECT_EQ(bytes_of(ElementType::bf16), 2);
  EXPECT_EQ(unit_roundoff(ElementType::f16), 0x1p-11);
  EXPECT_EQ(sum_roundoff(ElementType::bf16), 0x1p-24);
  EXPECT_EQ(exact_integers(ElementType::bf16), 256);
  EXPECT_EQ(cpp_name_of(ElementType::f16), "__half");
  EXPECT_EQ(bytes_of(ElementType::e4m3), 1);
  EXPECT_EQ(unit_roundoff(ElementType::e4m3), 0x1p-4);
  EXPECT_EQ(unit_roundoff(ElementType::e5m2), 0x1p-3);
  EXPECT_EQ(sum_roundoff(ElementType::e5m2), 0x1p-24);
  EXPECT_EQ(largest(ElementType::e4m3), 448);
}

TEST(ElementType, KnowsWhatIntegersItHas) {
  EXPECT_TRUE(holds(ElementType::i8, -128));
  EXPECT_FALSE(holds(ElementType::i8, 128));
  EXPECT_TRUE(holds(ElementType::u8, 255));
  EXPECT_FALSE(holds(ElementType::u8, -1));
  EXPECT_FALSE(holds(ElementType::u16, 65536));
  EXPECT_TRUE(holds(ElementType::u32, 4294967295));
  EXPECT_FALSE(holds(ElementType::u32, -1));
  EXPECT_TRUE(holds(ElementType::u64, std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(holds(ElementType::u64, -1));
  EXPECT_TRUE(holds(ElementType::i32, 2147483647));
  EXPECT_FALSE(holds(ElementType::i32, 2147483648));
  EXPECT_TRUE(holds(ElementType::i64, std::numeric_limits<std::int64_t>::max()));
}

TEST(ElementType, ItsLeastAndLargestNumbersAreThoseOfCpp) {
  EXPECT_EQ(largest(ElementType::f32), std::numeric_limits<float>::max());
  EXPECT_EQ(least(ElementType::f64), std::numeric_limits<double>::lowest());
  EXPECT_EQ(least(ElementType::i8), -128);
  EXPECT_EQ(largest(ElementType::i32), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(least(ElementType::i64), -0x1p63);
  EXPECT_EQ(least(ElementType::u32), 0);
  EXPECT_LT(largest(ElementType::i64), 0x1p63) << "2^63 is not a number of the type";
}

}  // namespace
}  // namespace autotune
