// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/value.hpp"

#include <cmath>
#include <limits>

#include "tests/support/matchers.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/formula_values.hpp"
#include "tuner/core/narrow_float.hpp"

namespace autotune {
namespace {

TEST(Value, ReadsIntegersAndWords) {
  EXPECT_EQ(parse_value("128"), Value(128));
  EXPECT_EQ(parse_value("-3"), Value(-3));
  EXPECT_EQ(parse_value("register"), Value("register"));
  EXPECT_EQ(parse_value("12a"), Value("12a"));
  EXPECT_EQ(parse_value("99999999999999999999"), Value("99999999999999999999"));
}

TEST(Value, RealNumbersAreReadBackAsWritten) {
  for (const double real : {0.5, 1.0, -2.5, 0.1, 1e-7, 1e20, 123456789.0}) {
    EXPECT_EQ(parse_value(Value(real).text()), Value(real)) << Value(real).text();
  }
  EXPECT_EQ(Value(1.0).text(), "1.0");
  EXPECT_EQ(Value(1e-7).text(), "1.0e-07");
  EXPECT_EQ(parse_value("inf"), Value("inf"));
  EXPECT_EQ(parse_value("e5"), Value("e5"));
}

TEST(Value, IsMeantByWhatAPersonWrites) {
  EXPECT_EQ(*meant_value({0.5, 1.0}, 1), Value(1.0));
  EXPECT_EQ(*meant_value({0, 1}, "true"), Value(1));
  EXPECT_EQ(meant_value({0, 2}, "true"), nullptr);
  EXPECT_EQ(meant_value({1, 2}, 1.0), nullptr);
}

TEST(Value, AWordsCodeIsNeverNegativeAndDiffersByLetters) {
  EXPECT_GE(word_code("none"), 0);
  EXPECT_NE(word_code("none"), word_code("nonf"));
  EXPECT_EQ(Value("none").code(), word_code("none"));
  EXPECT_EQ(Value(7).code(), 7);
}

TEST(NamedValues, TextIsReadBackAsWritten) {
  const NamedValues values = {{"BM", 128}, {"PREFETCH", "register"}};
  EXPECT_EQ(to_text(values), "BM=128 PREFETCH=register");
  EXPECT_EQ(parse_named_values(to_text(values)), values);
  EXPECT_TRUE(parse_named_values("").empty());
  EXPECT_THROW(parse_named_values("BM"), Error);
  EXPECT_THROW(parse_named_values("=3"), Error);
}

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

// Conversions to 16 and 8 bits and back, against values that a reader can check.

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

using testing::EndsWith;

TEST(Question, NamesTheManifestTheKeyAndTheValues) {
  Target target;
  target.name = "toy";
  target.parameters = {{"KERNEL", {"plain", "split"}, {}, false}, {"TILE", {8, 16}, {}, false}};
  const Problem problem{{{"M", 5}}};
  const Levels levels = {1, 0};
  const Question with{target, problem, levels}, without{target, problem, {}};
  EXPECT_REFUSAL(Error, with.fail("kernels[0].grid[1]", "it is bad"),
                 "kernels[0].grid[1]: it is bad (for M=5 KERNEL=split TILE=8)");
  EXPECT_THAT([&] { without.fail("length", "it is bad"); },
              ThrowsMessage<Error>(EndsWith("length: it is bad (for M=5)")));
}

}  // namespace
}  // namespace autotune
