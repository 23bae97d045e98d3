// SPDX-License-Identifier: Apache-2.0
// Inputs, poison, red zones and the element-wise comparison.
#include "tuner/measure/verification.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace autotune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
std::vector<T> filled(const BufferSpec& buffer, InputSet set, std::uint64_t seed,
                      bool absolute = false) {
  std::vector<T> values(buffer.length);
  fill(std::as_writable_bytes(std::span(values)), buffer, set, seed, absolute);
  return values;
}

BufferSpec floats(std::int64_t length, double tolerance = 0) {
  return {"C", ElementType::f32, length, Role::output, Fill::random, tolerance};
}

template <class T>
Verdict compared(const BufferSpec& buffer, std::vector<T> got, const Expected& expected,
                 InputSet set = InputSet::uniform) {
  return compare(buffer, std::as_bytes(std::span(got)), expected, set);
}

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

TEST(Poison, IsNanInFloatingTypesAndFarFromZeroInIntegers) {
  std::vector<float> f(3);
  std::vector<double> d(3);
  std::vector<std::int32_t> i(3);
  poison(std::as_writable_bytes(std::span(f)), ElementType::f32);
  poison(std::as_writable_bytes(std::span(d)), ElementType::f64);
  poison(std::as_writable_bytes(std::span(i)), ElementType::i32);
  EXPECT_TRUE(std::isnan(f[2]) && std::isnan(d[2]));
  EXPECT_THAT(i, Each(::testing::Lt(-1000000)));
}

TEST(Compare, PassesWhatIsWithinToleranceAndGivesTheWorstErrorInTolerances) {
  const double u = std::ldexp(1.0, -24);
  // 7 u of magnitude 1, and one rounding of the value 1: 8 u; the element is 4 u off.
  const Verdict verdict =
      compared<float>(floats(2, 7), {1.f, static_cast<float>(1 + 4 * u)}, {{1, 1}, {}});
  EXPECT_EQ(verdict.outcome, Outcome::ok);
  EXPECT_DOUBLE_EQ(verdict.worst_error, 0.5);
  EXPECT_EQ(verdict.message, "");
}

TEST(Compare, OneAndAHalfTolerancesOffIsWrong) {
  const float off = 1 + 12 * std::ldexp(1.0f, -24);
  EXPECT_EQ(compared<float>(floats(1, 7), {off}, {{1}, {}}).outcome, Outcome::wrong);
}

TEST(Compare, NamesTheFirstWrongElementBothValuesAndTheTolerance) {
  std::vector<float> got(4096, 3.25f);
  for (int i = 0; i < 40; ++i) got[513 + i] = 4.5f;
  const Verdict verdict = compared(floats(4096, 10), got, {std::vector<double>(4096, 3.25), {}});
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_EQ(verdict.message,
            "C[513] is 4.5, expected 3.25 (tolerance 2.1e-06); 40 of 4096 elements are wrong");
}

TEST(Compare, NanNeverPasses) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Verdict verdict = compared<float>(floats(2, 1e30), {1, nan}, {{1, 1}, {}});
  EXPECT_THAT(verdict.message, HasSubstr("C[1] is nan, expected 1"));
  EXPECT_TRUE(std::isinf(verdict.worst_error));
  EXPECT_EQ(compared<float>(floats(1, 1e30), {nan}, {{std::nan("")}, {}}).outcome, Outcome::wrong);
  EXPECT_EQ(compared<float>(floats(1, 1e30), {1}, {{std::nan("")}, {}}).outcome, Outcome::wrong);
}

TEST(Compare, InfinityPassesOnlyAgainstTheSameInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared<float>(floats(1, 1), {inf}, {{INFINITY}, {}}).outcome, Outcome::ok);
  EXPECT_EQ(compared<float>(floats(1, 1), {-inf}, {{INFINITY}, {}}).outcome, Outcome::wrong);
  EXPECT_EQ(compared<float>(floats(1, 1), {inf}, {{1}, {}}).outcome, Outcome::wrong);
  EXPECT_EQ(compared<float>(floats(1, 1), {1}, {{INFINITY}, {}}).outcome, Outcome::wrong);
}

TEST(Compare, AResultThatCancelledIsJudgedByItsMagnitude) {
  const float off = 1e-4f;
  EXPECT_EQ(compared<float>(floats(1, 100), {off}, {{1e-6}, {1000}}).outcome, Outcome::ok);
  EXPECT_EQ(compared<float>(floats(1, 100), {off}, {{1e-6}, {}}).outcome, Outcome::wrong);
}

TEST(Compare, TheIntegerSetMustBeExactWhateverTheTolerance) {
  const Verdict verdict = compared<float>(floats(3, 1000), {12, 7.000001f, 3},
                                          {{12, 7, 3}, {20, 21, 22}}, InputSet::integers);
  EXPECT_EQ(verdict.message,
            "C[1] is 7.000001, expected 7 (must be equal); 1 of 3 elements is wrong");
}

TEST(Compare, TheIntegerSetIsJudgedByToleranceWhereResultsAreNoSmallIntegers) {
  EXPECT_EQ(
      compared<float>(floats(2, 4), {12, 0.5000001f}, {{12, 0.5}, {}}, InputSet::integers).outcome,
      Outcome::ok);
  EXPECT_EQ(compared<float>(floats(1, 4), {1e8f + 8}, {{1e8}, {}}, InputSet::integers).outcome,
            Outcome::ok);
}

TEST(Compare, IntegerTypesAreAlwaysExact) {
  const BufferSpec buffer{"n", ElementType::i32, 2, Role::output, Fill::zero, 1000};
  EXPECT_EQ(compared<std::int32_t>(buffer, {5, -7}, {{5, -7}, {}}).outcome, Outcome::ok);
  EXPECT_EQ(compared<std::int32_t>(buffer, {5, -8}, {{5, -7}, {}}).message,
            "n[1] is -8, expected -7 (must be equal); 1 of 2 elements is wrong");
}

TEST(Compare, APoisonedOutputThatNobodyWroteIsWrongInEveryType) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f64, ElementType::i32, ElementType::i64}) {
    const BufferSpec buffer{"y", type, 4, Role::output, Fill::zero, 1e6};
    std::vector<std::byte> bytes(buffer.bytes());
    poison(bytes, type);
    const Verdict verdict = compare(buffer, bytes, {{0, 1, 2, 3}, {}}, InputSet::integers);
    EXPECT_THAT(verdict.message, HasSubstr("4 of 4 elements are wrong")) << name_of(type);
  }
}

TEST(RedZones, AnElementPastTheEndIsNamed) {
  std::vector<std::byte> before(kRedZoneBytes, kRedZoneByte), after = before;
  EXPECT_EQ(check_red_zones(floats(4096), before, after).outcome, Outcome::ok);
  std::memset(after.data(), 0, 8);
  const Verdict verdict = check_red_zones(floats(4096), before, after);
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_EQ(verdict.message, "wrote C[4096], outside C[0..4095]; 8 bytes round C changed");
}

TEST(RedZones, AnElementBeforeTheStartIsNamedWithItsNegativeIndex) {
  std::vector<std::byte> before(kRedZoneBytes, kRedZoneByte);
  const std::vector<std::byte> after = before;
  std::memset(before.data() + kRedZoneBytes - 8, 0, 4);
  EXPECT_EQ(check_red_zones(floats(16), before, after).message,
            "wrote C[-2], outside C[0..15]; 4 bytes round C changed");
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

TEST(Runs, ThatDifferInOneBitAreNondeterministic) {
  const std::vector<float> first{1, 2, 3, 0.f}, same = first, other{1, 2, 3.5, -0.f};
  const auto bytes = [](const std::vector<float>& v) { return std::as_bytes(std::span(v)); };
  EXPECT_EQ(compare_runs(floats(4), bytes(first), bytes(same)).outcome, Outcome::ok);
  const Verdict verdict = compare_runs(floats(4), bytes(first), bytes(other));
  EXPECT_EQ(verdict.outcome, Outcome::nondeterministic);
  EXPECT_EQ(verdict.message,
            "C[2] is 3 in one run and 3.5 in the next on the same inputs; 2 of 4 elements differ");
}

}  // namespace
}  // namespace autotune
