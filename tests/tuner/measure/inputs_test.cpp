// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace autotune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

template <class T>
std::vector<T> filled(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                      bool absolute = false) {
  std::vector<T> values(buffer.length);
  fill(std::as_writable_bytes(std::span(values)), buffer, set, seed, absolute);
  return values;
}

BufferSpec floats(std::int64_t length) { return {"C", ElementType::f32, length}; }

TEST(Fill, TheIntegerSetHoldsEachOfMinusTwoToTwoAboutEquallyOften) {
  const auto values = filled<float>(floats(50000), InputSet::integers, 1);
  for (const float integer : {-2.f, -1.f, 0.f, 1.f, 2.f}) {
    EXPECT_NEAR(std::ranges::count(values, integer), 10000, 400);
  }
}

TEST(Fill, TheUniformSetLiesInsideMinusOneToOneWithoutZeroAndHasItsMoments) {
  const auto values = filled<float>(floats(100000), InputSet::uniform, 1);
  double sum = 0, squares = 0;
  for (const float value : values) {
    ASSERT_LT(std::abs(value), 1.f);
    ASSERT_NE(value, 0.f);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  EXPECT_NEAR(squares / 1e5, 1.0 / 3, 0.01);
}

TEST(Fill, AnElementDependsOnSeedNameSetAndIndexOnly) {
  BufferSpec a = floats(64), longer = floats(128), other = floats(64);
  other.name = "B";
  const auto values = filled<float>(a, InputSet::uniform, 7);
  auto prefix = filled<float>(longer, InputSet::uniform, 7);
  prefix.resize(64);
  EXPECT_EQ(values, prefix);
  EXPECT_NE(values, filled<float>(a, InputSet::uniform, 8));
  EXPECT_NE(values, filled<float>(other, InputSet::uniform, 7));
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), 64u);
}

TEST(Fill, StaysTheSameFromReleaseToRelease) {
  EXPECT_THAT(filled<float>(floats(6), InputSet::integers, 1), ElementsAre(-1, 1, 0, 0, 2, -2));
  EXPECT_THAT(filled<float>(floats(3), InputSet::uniform, 1),
              ElementsAre(-0.558145165f, -0.0801790953f, 0.308847785f));
}

TEST(Fill, AbsoluteIsTheAbsoluteValueOfTheSameElements) {
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    const auto plain = filled<float>(floats(100), set, 3);
    const auto absolute = filled<float>(floats(100), set, 3, true);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(absolute[i], std::abs(plain[i]));
  }
}

TEST(Fill, ZeroOneAndIotaAreWhatTheySayInEveryType) {
  BufferSpec buffer{"x", ElementType::i64, 5, Role::input, Fill::iota, 0};
  EXPECT_THAT(filled<std::int64_t>(buffer, InputSet::uniform, 1), ElementsAre(0, 1, 2, 3, 4));
  buffer.type = ElementType::f64;
  EXPECT_THAT(filled<double>(buffer, InputSet::integers, 1), ElementsAre(0, 1, 2, 3, 4));
  buffer.fill = Fill::one;
  EXPECT_THAT(filled<double>(buffer, InputSet::uniform, 1), Each(1.0));
  buffer.type = ElementType::i32;
  buffer.fill = Fill::zero;
  EXPECT_THAT(filled<std::int32_t>(buffer, InputSet::uniform, 1), Each(0));
}

TEST(Fill, IntegerTypesStaySmall) {
  const BufferSpec buffer{"x", ElementType::i32, 1000, Role::input, Fill::random, 0};
  EXPECT_THAT(filled<std::int32_t>(buffer, InputSet::integers, 1),
              Each(::testing::AllOf(::testing::Ge(-2), ::testing::Le(2))));
  EXPECT_THAT(filled<std::int32_t>(buffer, InputSet::uniform, 1),
              Each(::testing::AllOf(::testing::Ge(-64), ::testing::Le(63))));
}

TEST(Fill, APartHoldsWhatTheWholeHasThere) {
  const BufferSpec buffer{"x", ElementType::f64, 1000};
  const auto whole = filled<double>(buffer, InputSet::uniform, 4);
  std::vector<double> part(10);
  fill_elements(std::as_writable_bytes(std::span(part)), buffer.type,
                element_rule(buffer, InputSet::uniform, 4), 333);
  EXPECT_TRUE(std::ranges::equal(part, std::span(whole).subspan(333, 10)));
}

TEST(Inputs, AChangedInputIsNamedWithBothValues) {
  const BufferSpec buffer{"A", ElementType::f32, 5000, Role::input, Fill::iota, 0};
  auto values = filled<float>(buffer, InputSet::uniform, 9);
  const auto check = [&] {
    return check_unchanged(buffer, std::as_bytes(std::span(values)), InputSet::uniform, 9);
  };
  EXPECT_EQ(check().outcome, Outcome::ok);
  values[4321] = 1.5f;
  EXPECT_EQ(check().message, "the input A was changed: A[4321] was 4321 and is 1.5");
}

TEST(Inputs, AChangeFarBehindIsFoundToo) {
  const BufferSpec buffer{"A", ElementType::i64, 200000};
  auto values = filled<std::int64_t>(buffer, InputSet::integers, 9);
  const std::int64_t was = values[199999];
  values[199999] = 1000;
  EXPECT_EQ(
      check_unchanged(buffer, std::as_bytes(std::span(values)), InputSet::integers, 9).message,
      "the input A was changed: A[199999] was " + std::to_string(was) + " and is 1000");
}

}  // namespace
}  // namespace autotune
