// SPDX-License-Identifier: Apache-2.0
// Conversions to 16 and 8 bits and back, against values that a reader can check.
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

TEST(Float8, HasTheBitsOfTheStandard) {
  EXPECT_EQ(Float8E4M3(1).bits, 0x38);
  EXPECT_EQ(Float8E4M3(-2).bits, 0xc0);
  EXPECT_EQ(Float8E4M3(448).bits, 0x7e);
  EXPECT_EQ(Float8E4M3(0x1p-6).bits, 0x08) << "the least normal number";
  EXPECT_EQ(Float8E4M3(0x1p-9).bits, 0x01) << "the least number";
  EXPECT_EQ(Float8E4M3(-0.0).bits, 0x80);
  EXPECT_EQ(Float8E5M2(1).bits, 0x3c);
  EXPECT_EQ(Float8E5M2(57344).bits, 0x7b);
  EXPECT_EQ(Float8E5M2(0x1p-16).bits, 0x01);
}

TEST(Float8, RoundsToNearestTiesToEven) {
  EXPECT_EQ(Float8E4M3(1 + 0x1p-4).bits, 0x38);
  EXPECT_EQ(Float8E4M3(1 + 0x1p-4 + 0x1p-50).bits, 0x39);
  EXPECT_EQ(Float8E4M3(1 + 3 * 0x1p-4).bits, 0x3a);
  EXPECT_EQ(Float8E4M3(0x1p-10).bits, 0);
  EXPECT_EQ(Float8E4M3(0x1.8p-10).bits, 1);
  EXPECT_EQ(Float8E4M3(-0x1p-10).bits, 0x80) << "a zero keeps its sign";
  EXPECT_EQ(Float8E5M2(1 + 0x1p-3).bits, 0x3c);
  EXPECT_EQ(Float8E5M2(0x1p-17).bits, 0);
}

TEST(Float8, SaturatesAndHasOneNan) {
  for (const double large : {464.0, 465.0, 1e300, kInfinity}) {
    EXPECT_EQ(Float8E4M3(large).bits, 0x7e) << large;
    EXPECT_EQ(Float8E4M3(-large).bits, 0xfe) << large;
  }
  EXPECT_EQ(Float8E5M2(61440).bits, 0x7b);
  EXPECT_EQ(Float8E5M2(kInfinity).bits, 0x7b);
  EXPECT_EQ(Float8E4M3(std::nan("")).bits, 0x7f);
  EXPECT_EQ(Float8E5M2(-std::nan("")).bits, 0x7f);
}

template <class Narrow>
Narrow code(int bits) {
  Narrow number;
  number.bits = static_cast<unsigned char>(bits);
  return number;
}

TEST(Float8, EveryNumberRoundTrips) {
  for (int bits = 0; bits < 256; ++bits) {
    const float e4m3 = code<Float8E4M3>(bits), e5m2 = code<Float8E5M2>(bits);
    EXPECT_EQ(std::isnan(e4m3), bits % 128 == 127) << bits;
    EXPECT_EQ(std::isnan(e5m2), bits % 128 > 124) << bits;
    EXPECT_EQ(std::isinf(e5m2), bits % 128 == 124) << bits;
    if (!std::isnan(e4m3)) EXPECT_EQ(Float8E4M3(e4m3).bits, bits);
    if (std::isfinite(e5m2)) EXPECT_EQ(Float8E5M2(e5m2).bits, bits);
  }
}

}  // namespace
}  // namespace autotune
