// SPDX-License-Identifier: Apache-2.0
// Conversions to 16 bits and back, against values that a reader can check.
#include "tuner/core/narrow_float.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace autotune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NarrowFloat, HasTheBitsOfTheStandards) {
  EXPECT_EQ(Float16(1).bits, 0x3c00);
  EXPECT_EQ(Float16(-2).bits, 0xc000);
  EXPECT_EQ(Float16(65504).bits, 0x7bff);
  EXPECT_EQ(Float16(0x1p-24).bits, 1);
  EXPECT_EQ(Float16(-kInfinity).bits, 0xfc00);
  EXPECT_EQ(BFloat16(1).bits, 0x3f80);
  EXPECT_EQ(BFloat16(-0.0).bits, 0x8000);
  EXPECT_EQ(BFloat16(0x1p-133).bits, 1);
}

TEST(NarrowFloat, RoundsToNearestTiesToEven) {
  EXPECT_EQ(Float16(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(Float16(1 + 0x1p-11 + 0x1p-50).bits, 0x3c01);
  EXPECT_EQ(Float16(1 + 3 * 0x1p-11).bits, 0x3c02);
  EXPECT_EQ(Float16(0x1p-25).bits, 0);
  EXPECT_EQ(Float16(0x1.8p-25).bits, 1);
  EXPECT_EQ(Float16(65519.99).bits, 0x7bff);
  EXPECT_EQ(Float16(65520).bits, 0x7c00);
  EXPECT_EQ(BFloat16(1 + 0x1p-8).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::numeric_limits<double>::max()).bits, 0x7f80);
  EXPECT_EQ(BFloat16(1e-300).bits, 0);
}

template <class Narrow>
void expect_round_trips() {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    Narrow number;
    number.bits = static_cast<unsigned short>(bits);
    const float value = number;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Narrow(value))));
    } else {
      ASSERT_EQ(Narrow(value).bits, bits) << value;
    }
  }
}

TEST(NarrowFloat, EveryNumberRoundTrips) {
  expect_round_trips<Float16>();
  expect_round_trips<BFloat16>();
  Float16 nan;
  nan.bits = 0xffff;
  EXPECT_TRUE(std::isnan(static_cast<float>(nan)));
}

}  // namespace
}  // namespace autotune
