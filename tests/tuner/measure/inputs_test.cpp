// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

template <class T>
std::vector<T> filled(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                      bool absolute = false) {
  std::vector<T> values(buffer.length);
  fill(std::as_writable_bytes(std::span(values)), buffer, set, seed, absolute);
  return values;
}

BufferSpec result_floats(std::int64_t length) { return {"C", ElementType::f32, length}; }

TEST(Fill, TheIntegerSetHoldsEachOfMinusTwoToTwoAboutEquallyOften) {
  const auto values = filled<float>(result_floats(50000), InputSet::integers, 1);
  for (const float integer : {-2.f, -1.f, 0.f, 1.f, 2.f}) {
    EXPECT_NEAR(std::ranges::count(values, integer), 10000, 400);
  }
}

TEST(Fill, TheUniformSetLiesInsideMinusOneToOneWithoutZeroAndSpreadsItsExponents) {
  const auto values = filled<float>(result_floats(100000), InputSet::uniform, 1);
  double sum = 0, squares = 0;
  int small = 0;
  for (const float value : values) {
    ASSERT_LT(std::abs(value), 1.f);
    ASSERT_NE(value, 0.f);
    sum += value;
    squares += value * value;
    small += std::abs(value) < 0x1p-8f;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  // Three in four are uniform, and one in four is scaled by 2^-1 .. 2^-8.
  EXPECT_NEAR(squares / 1e5, (0.75 + 0.25 / 8 / 3) / 3, 0.01);
  EXPECT_NEAR(small / 1e5, 0.75 / 256 + 0.25 / 8 * 510 / 256, 0.003);
}

TEST(Fill, AnElementDependsOnSeedNameSetAndIndexOnly) {
  BufferSpec a = result_floats(64), longer = result_floats(128), other = result_floats(64);
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
  EXPECT_THAT(filled<float>(result_floats(6), InputSet::integers, 1),
              ElementsAre(-1, 1, 0, 0, 2, -2));
  EXPECT_THAT(filled<float>(result_floats(3), InputSet::uniform, 1),
              ElementsAre(-0.558145165f, -0.0801790953f, 0.308847785f));
}

TEST(Fill, AbsoluteIsTheAbsoluteValueOfTheSameElements) {
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    const auto plain = filled<float>(result_floats(100), set, 3);
    const auto absolute = filled<float>(result_floats(100), set, 3, true);
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

template <class T>
void expect_narrow_fills(ElementType type) {
  BufferSpec buffer{"x", type, 1000, Role::input, Fill::random};
  for (const T value : filled<T>(buffer, InputSet::integers, 1)) {
    EXPECT_EQ(static_cast<float>(value), std::trunc(static_cast<float>(value)));
    EXPECT_LE(std::abs(static_cast<float>(value)), 2);
  }
  for (const T value : filled<T>(buffer, InputSet::uniform, 1)) {
    EXPECT_LT(std::abs(static_cast<float>(value)), 1);
    EXPECT_NE(static_cast<float>(value), 0);
  }
  buffer.fill = Fill::iota;
  EXPECT_EQ(static_cast<float>(filled<T>(buffer, InputSet::uniform, 1)[100]), 100);
  buffer.fill = Fill::value;
  buffer.fill_values = {-0.5};
  EXPECT_EQ(static_cast<float>(filled<T>(buffer, InputSet::uniform, 1, true)[0]), 0.5);
}

TEST(Fill, HasTheSameDistributionsInSixteenBits) {
  expect_narrow_fills<Float16>(ElementType::f16);
  expect_narrow_fills<BFloat16>(ElementType::bf16);
}

template <class T>
void expect_fills_of_eight_bits(ElementType type) {
  const BufferSpec buffer{"x", type, 9000};
  for (const T value : filled<T>(buffer, InputSet::uniform, 1)) {
    EXPECT_LT(std::abs(static_cast<float>(value)), 1);
    EXPECT_NE(static_cast<float>(value), 0);
  }
  for (const T value : filled<T>(buffer, InputSet::integers, 1)) {
    const float number = value;
    EXPECT_TRUE(number == std::round(number) && std::abs(number) <= 2) << number;
  }
}

TEST(Fill, HasTheSameDistributionsInEightBits) {
  expect_fills_of_eight_bits<Float8E4M3>(ElementType::e4m3);
  expect_fills_of_eight_bits<Float8E5M2>(ElementType::e5m2);
}

TEST(Fill, OfSmallIntegersFitsThem) {
  const auto bytes = filled<std::int8_t>({"x", ElementType::i8, 9000}, InputSet::uniform, 1);
  EXPECT_EQ(*std::ranges::min_element(bytes), -128);
  EXPECT_EQ(*std::ranges::max_element(bytes), 127);
  EXPECT_THAT(filled<std::int8_t>({"x", ElementType::i8, 9000}, InputSet::uniform, 1, true),
              Each(::testing::Ge(0)));
  const auto positive = filled<std::uint8_t>({"x", ElementType::u8, 9000}, InputSet::uniform, 1);
  EXPECT_EQ(*std::ranges::max_element(positive), 255);
  EXPECT_EQ(*std::ranges::min_element(positive), 0);
  const auto few = filled<std::uint8_t>({"x", ElementType::u8, 9000}, InputSet::integers, 1);
  EXPECT_EQ(*std::ranges::max_element(few), 4);
}

BufferSpec ruled(ElementType type, Fill fill, std::vector<double> values) {
  BufferSpec buffer{"x", type, 50000, Role::input, fill};
  buffer.fill_values = std::move(values);
  return buffer;
}

TEST(Fill, UniformNumbersLieBetweenTheirBoundsAndReachThemInIntegerTypes) {
  const auto reals =
      filled<double>(ruled(ElementType::f64, Fill::uniform, {2, 2.5}), InputSet::integers, 1);
  EXPECT_THAT(reals, Each(::testing::AllOf(::testing::Ge(2), ::testing::Le(2.5))));
  EXPECT_NEAR(std::accumulate(reals.begin(), reals.end(), 0.0) / 5e4, 2.25, 0.005);
  const auto integers =
      filled<std::int32_t>(ruled(ElementType::i32, Fill::uniform, {-1, 3}), InputSet::uniform, 1);
  for (int value = -1; value <= 3; ++value) {
    EXPECT_NEAR(std::ranges::count(integers, value), 10000, 400) << value;
  }
  BufferSpec few = ruled(ElementType::i64, Fill::uniform, {-1e12, 1e12});
  few.length = 2;
  EXPECT_THAT(filled<std::int64_t>(few, InputSet::uniform, 1),
              ElementsAre(1'000'000'000'000, -1'000'000'000'000));
}

TEST(Fill, IntegersLieBetweenTheirBoundsInFloatingTypesToo) {
  const auto scales =
      filled<float>(ruled(ElementType::f32, Fill::integers, {1, 4}), InputSet::uniform, 1);
  for (int value = 1; value <= 4; ++value) {
    EXPECT_NEAR(std::ranges::count(scales, static_cast<float>(value)), 12500, 400) << value;
  }
}

TEST(Fill, NormalNumbersHaveTheirMeanAndDeviation) {
  const auto values =
      filled<float>(ruled(ElementType::f32, Fill::normal, {10, 2}), InputSet::uniform, 1);
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += (value - 10) * (value - 10);
  }
  EXPECT_NEAR(sum / 5e4, 10, 0.05);
  EXPECT_NEAR(std::sqrt(squares / 5e4), 2, 0.05);
  const auto far = std::ranges::count_if(values, [](float x) { return std::abs(x - 10) > 4; });
  EXPECT_NEAR(static_cast<double>(far) / 5e4, 0.0455, 0.005);
  EXPECT_THAT(
      filled<std::int64_t>(ruled(ElementType::i64, Fill::normal, {-3.6, 0}), InputSet::uniform, 1),
      Each(-4));
}

TEST(Fill, ValuesAndRangesAreTheSameInBothSets) {
  for (const InputSet set : {InputSet::integers, InputSet::uniform}) {
    EXPECT_THAT(filled<float>(ruled(ElementType::f32, Fill::value, {1.5}), set, 1), Each(1.5f));
    BufferSpec range = ruled(ElementType::i32, Fill::range, {7, -2});
    range.length = 4;
    EXPECT_THAT(filled<std::int32_t>(range, set, 1), ElementsAre(7, 5, 3, 1));
    range.type = ElementType::f64;
    range.fill_values = {0, 0.25};
    EXPECT_THAT(filled<double>(range, set, 1), ElementsAre(0, 0.25, 0.5, 0.75));
  }
}

TEST(Fill, ASeedOfItsOwnReplacesThatOfTheRun) {
  BufferSpec buffer = ruled(ElementType::f32, Fill::uniform, {0, 1});
  const auto first = filled<float>(buffer, InputSet::uniform, 1);
  EXPECT_NE(filled<float>(buffer, InputSet::uniform, 2), first);
  buffer.seed = 1;
  EXPECT_EQ(filled<float>(buffer, InputSet::uniform, 2), first);
}

TEST(Fill, DistributionsStayTheSameFromReleaseToRelease) {
  BufferSpec buffer = ruled(ElementType::i32, Fill::uniform, {0, 99});
  buffer.length = 3;
  EXPECT_THAT(filled<std::int32_t>(buffer, InputSet::uniform, 1), ElementsAre(99, 0, 50));
  buffer = ruled(ElementType::i32, Fill::normal, {0, 1000});
  buffer.length = 3;
  EXPECT_THAT(filled<std::int32_t>(buffer, InputSet::uniform, 1), ElementsAre(1264, -230, 1305));
}

TEST(Inputs, APreparedInputIsComparedWithWhatWasPrepared) {
  const BufferSpec buffer{"s", ElementType::f32, 3, Role::input, Fill::prepared};
  const std::vector<float> elements{1, -2, 3}, changed{1, -2, 4};
  PreparedInputs prepared;
  prepared.keep(InputSet::uniform, 2, std::as_bytes(std::span(elements)));
  EXPECT_TRUE(prepared.of(InputSet::integers, 2).empty());
  const auto check = [&](const std::vector<float>& got) {
    return check_unchanged(buffer, std::as_bytes(std::span(got)), InputSet::uniform, 1,
                           prepared.of(InputSet::uniform, 2));
  };
  EXPECT_EQ(check(elements).outcome, Outcome::ok);
  EXPECT_EQ(check(changed).message, "the input s was changed: s[2] was 3 and is 4");
}

TEST(Inputs, SumsAreExactWhereEveryInputIsOfIntegers) {
  Workload workload;
  workload.buffers = {{"a", ElementType::f32, 8}, {"c", ElementType::f32, 8, Role::output}};
  EXPECT_TRUE(has_integer_set(workload));
  workload.buffers.push_back(ruled(ElementType::i32, Fill::uniform, {0, 9}));
  EXPECT_TRUE(has_integer_set(workload));
  workload.buffers.push_back(ruled(ElementType::f32, Fill::integers, {1, 4}));
  EXPECT_TRUE(has_integer_set(workload));
  workload.buffers.push_back(ruled(ElementType::f32, Fill::uniform, {0, 9}));
  EXPECT_FALSE(has_integer_set(workload));
  workload.buffers.pop_back();
  workload.buffers[0].file = "a.bin";
  EXPECT_FALSE(has_integer_set(workload));
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
