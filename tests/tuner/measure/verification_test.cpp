// SPDX-License-Identifier: Apache-2.0
// Red zones and the element-wise comparison.
#include "tuner/measure/verification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/measure/compared.hpp"
#include "tuner/measure/inputs.hpp"

namespace autotune {
namespace {

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
  const Verdict verdict = compared(floats(4096, 10), got, {std::vector<double>(4096, 3.25)});
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

TEST(Compare, AnInfinityIsRightWhereTheResultIsRoundedToIt) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compared<float>(floats(2, 1), {inf, -inf}, {{1e39, -3.40282357e38}}).outcome,
            Outcome::ok);
  EXPECT_EQ(compared<float>(floats(1, 1), {inf}, {{3.4028e38}}).outcome, Outcome::wrong);
  EXPECT_EQ(compared<float>(floats(1, 1), {-inf}, {{1e39}}).outcome, Outcome::wrong);
  EXPECT_EQ(compared<float>(floats(1, 1), {3.4e38f}, {{1e39}}).outcome, Outcome::wrong);
  const BufferSpec halves{"C", ElementType::f16, 1, Role::output, Fill::random, 1};
  const std::vector<Float16> got{Float16(INFINITY)};
  const std::vector<double> right{65521};
  EXPECT_EQ(compare(halves, bytes_in(got), {ElementType::f64, bytes_in(right)}).outcome,
            Outcome::ok);
}

TEST(Compare, WhereTheMagnitudeIsNotFiniteTheResultsOwnCounts) {
  for (const double none : {double{INFINITY}, std::nan("")}) {
    EXPECT_EQ(compared<float>(floats(2, 16), {12345, 2}, {{1e-40, 2}, {none, 2}}).message,
              "C[0] is 12345, expected 1e-40 (tolerance 8e-46); 1 of 2 elements is wrong; on "
              "absolute inputs, the reference of C is not finite in 1 of 2 elements, where its own "
              "magnitude counts");
    const float near = 2 * (1 + std::ldexp(1.f, -22));
    const Verdict right = compared<float>(floats(2, 16), {near, 2}, {{2, 2}, {none, 2}});
    EXPECT_EQ(right.outcome, Outcome::ok);
    EXPECT_EQ(right.message,
              "on absolute inputs, the reference of C is not finite in 1 of 2 elements, where its "
              "own magnitude counts");
  }
}

TEST(Compare, AMagnitudeBelowTheResultBoundsNothing) {
  const double u = std::ldexp(1.0, -24);
  // exp(-x) of x = -5 is 148, and of |x| it is 0.007.
  EXPECT_EQ(
      compared<float>(floats(1, 16), {static_cast<float>(148 * (1 + 10 * u))}, {{148}, {0.0067}})
          .outcome,
      Outcome::ok);
}

template <class T>
Verdict subnormal(ElementType type, double right, double tolerance) {
  const std::vector<T> got{static_cast<T>(right)};
  const std::vector<double> expected{right};
  return compare({"y", type, 1, Role::output, Fill::random, tolerance}, bytes_in(got),
                 {ElementType::f64, bytes_in(expected)});
}

TEST(Compare, ASubnormalIsRightWhereRoundedToNearest) {
  for (const double tolerance : {0, 4}) {
    EXPECT_EQ(subnormal<float>(ElementType::f32, 5.361158252e-43, tolerance).outcome, Outcome::ok);
    EXPECT_EQ(subnormal<float>(ElementType::f32, 0x1p-150, tolerance).outcome, Outcome::ok);
    EXPECT_EQ(subnormal<Float16>(ElementType::f16, 0x1.8p-24, tolerance).outcome, Outcome::ok);
    EXPECT_EQ(subnormal<BFloat16>(ElementType::bf16, 0x1.8p-133, tolerance).outcome, Outcome::ok);
  }
  EXPECT_EQ(compared<float>(floats(1, 4), {0x1p-148f}, {{0x1.4p-150}}).outcome, Outcome::wrong);
  const std::vector<double> one{0x1p-1073}, next{0x1.8p-1073};
  EXPECT_EQ(compare({"y", ElementType::f64, 1, Role::output, Fill::random, 4}, bytes_in(one),
                    {ElementType::f64, bytes_in(next)})
                .outcome,
            Outcome::ok);
}

TEST(Compare, NoResultIsRightWhereTheReferenceIsNoNumber) {
  EXPECT_EQ(compared<float>(floats(1, 1), {1}, {{std::nan("")}, {}}).message,
            "C[0] is 1, expected nan (no result is right here: choose a fill that gives numbers); "
            "1 of 1 elements is wrong");
  EXPECT_TRUE(compared<float>(floats(1, 1), {1}, {{std::nan("")}, {}}).is_undefined);
  EXPECT_FALSE(compared<float>(floats(1, 1), {1}, {{2}, {}}).is_undefined);
}

TEST(Compare, AResultThatCancelledIsJudgedByItsMagnitude) {
  const float off = 1e-4f;
  EXPECT_EQ(compared<float>(floats(1, 100), {off}, {{1e-6}, {1000}}).outcome, Outcome::ok);
  EXPECT_EQ(compared<float>(floats(1, 100), {off}, {{1e-6}, {}}).outcome, Outcome::wrong);
}

TEST(Compare, WhatMustBeExactMustBeEqualWhateverTheTolerance) {
  const Verdict verdict =
      compared<float>(floats(3, 1000), {12, 7.000001f, 3}, {{12, 7, 3}, {20, 21, 22}, true});
  EXPECT_EQ(verdict.message,
            "C[1] is 7.000001, expected 7 (must be equal); 1 of 3 elements is wrong; that is 3 "
            "roundings: sums of small integers have none in any order; where a kernel computes "
            "otherwise, as by transforms, give an input fill = { normal = [0, 1] }");
  EXPECT_EQ(verdict.worst_error, 3) << "as of rounding";
  const Verdict at_zero = compared<float>(floats(3, 1000), {0, 1e-6f, 0}, {{0, 0, 0}, {}, true});
  EXPECT_THAT(at_zero.message, testing::HasSubstr("that is 17 roundings")) << "of 1";
}

TEST(Compare, AnotherIntegerIsNoRounding) {
  for (const float other : {8.0f, 0.0f, 6000.0f}) {
    const Verdict verdict =
        compared<float>(floats(3, 1000), {12, other, 3}, {{12, 7, 3}, {20, 21, 22}, true});
    EXPECT_THAT(verdict.message, testing::EndsWith("1 of 3 elements is wrong"));
    EXPECT_TRUE(std::isinf(verdict.worst_error));
  }
}

TEST(Compare, TheRightAnswerMayHaveTheTypeOfTheOutput) {
  const std::vector<float> got{1.5f, 2.0f}, right{1.5f, 2.5f};
  EXPECT_EQ(compare(floats(2, 1), bytes_in(got), {ElementType::f32, bytes_in(right)}).message,
            "C[1] is 2, expected 2.5 (tolerance 3e-07); 1 of 2 elements is wrong");
}

TEST(Compare, IntegersAreSmallBelowTwoToThe23) {
  const auto are_small = [](std::vector<double> values) {
    return all_small_integers(ElementType::f64, bytes_in(values), exact_integers(ElementType::f32));
  };
  EXPECT_TRUE(are_small({0, -3, 8388607}));
  for (const double other : {8388608.0, 0.5, 1e300, std::nan(""), -double{INFINITY}}) {
    EXPECT_FALSE(are_small({1, other})) << other;
  }
}

/// Sums of products of elements of `type`, of which the last `missing` of k are left out, against
/// right answers in double.
template <class T>
Verdict sums_without(ElementType type, std::int64_t k, std::int64_t missing) {
  constexpr std::int64_t kSums = 64;
  std::vector<T> a(kSums * k), b(kSums * k), got(kSums);
  fill_elements(std::as_writable_bytes(std::span(a)), type, {Drawing::uniform, false, 1});
  fill_elements(std::as_writable_bytes(std::span(b)), type, {Drawing::uniform, false, 2});
  std::vector<double> right(kSums), magnitudes(kSums);
  for (std::int64_t i = 0; i < kSums; ++i) {
    float sum = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const float product = static_cast<float>(a[i * k + j]) * static_cast<float>(b[i * k + j]);
      if (j < k - missing) sum += product;
      right[i] += product;
      magnitudes[i] += std::abs(product);
    }
    got[i] = T(sum);
  }
  const BufferSpec buffer{"C", type, kSums, Role::output, Fill::random, static_cast<double>(k)};
  return compare(buffer, bytes_in(got), {ElementType::f64, bytes_in(right), bytes_in(magnitudes)});
}

TEST(Compare, AMissingSlabOfASumIsWrongInNarrowTypesToo) {
  for (const std::int64_t k : {64, 1024, 4096}) {
    EXPECT_EQ(sums_without<Float16>(ElementType::f16, k, 0).outcome, Outcome::ok) << k;
    EXPECT_EQ(sums_without<Float16>(ElementType::f16, k, 8).outcome, Outcome::wrong) << k;
    EXPECT_EQ(sums_without<BFloat16>(ElementType::bf16, k, 0).outcome, Outcome::ok) << k;
    EXPECT_EQ(sums_without<BFloat16>(ElementType::bf16, k, 8).outcome, Outcome::wrong) << k;
  }
}

/// Bits of the significand that a kernel keeps of its inputs.
constexpr int kTf32 = 11, kBf16 = 8, kF32 = 24;

float rounded_to(float x, int bits) {
  const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
  return static_cast<float>(std::nearbyint(x / unit) * unit);
}

/// How a kernel adds products: `chunk` of them at a time, with or without contraction.
struct Sums {
  std::int64_t chunk;
  bool contracts;

  float add(float sum, float a, float b) const {
    if (contracts) return std::fma(a, b, sum);
    volatile const float product = a * b;
    return sum + product;
  }

  float of(const float* a, const float* b, std::int64_t k, int bits) const {
    float all = 0;
    for (std::int64_t from = 0; from < k; from += chunk) {
      float part = 0;
      for (std::int64_t i = from; i < std::min(from + chunk, k); ++i)
        part = add(part, rounded_to(a[i], bits), rounded_to(b[i], bits));
      all += part;
    }
    return all;
  }
};

/// `count` sums of k products of this fill.
Verdict sums_with(int bits, const Sums& sums, std::int64_t k, std::int64_t count = 64,
                  bool are_positive = false) {
  std::vector<float> a(count * k), b(count * k), got(count);
  fill_elements(std::as_writable_bytes(std::span(a)), ElementType::f32,
                {Drawing::uniform, are_positive, 1});
  fill_elements(std::as_writable_bytes(std::span(b)), ElementType::f32,
                {Drawing::uniform, are_positive, 2});
  std::vector<double> right(count), magnitudes(count);
  for (std::int64_t i = 0; i < count; ++i) {
    got[i] = sums.of(&a[i * k], &b[i * k], k, bits);
    for (std::int64_t j = i * k; j < (i + 1) * k; ++j) {
      const double product = static_cast<double>(a[j]) * b[j];
      right[i] += product;
      magnitudes[i] += std::abs(product);
    }
  }
  return compared<float>(floats(count, static_cast<double>(k + 4)), got, {right, magnitudes});
}

TEST(Compare, ProductsOfLessPrecisionAreWrongHoweverManyAreAdded) {
  for (const std::int64_t k : {1, 256, 4096, 16384}) {
    for (const int bits : {kTf32, kBf16}) {
      const Verdict verdict = sums_with(bits, {64, true}, k);
      EXPECT_EQ(verdict.outcome, Outcome::wrong) << k << " " << bits;
      EXPECT_GT(verdict.worst_error, 1.5) << k << " " << bits;
    }
  }
  EXPECT_THAT(sums_with(kTf32, {64, true}, 8192).message,
              HasSubstr("are allowed: products or sums are less precise than f32 (if they may be, "
                        "raise the tolerance, or `absolute` where terms cancel)"));
}

TEST(Compare, SumsInF32AreRightInEveryOrder) {
  for (const std::int64_t k : {1, 256, 8192}) {
    for (const Sums& sums : {Sums{k, false}, Sums{64, true}, Sums{2, false}}) {
      for (const bool are_positive : {false, true}) {
        const Verdict many = sums_with(kF32, sums, k, 64, are_positive);
        EXPECT_EQ(many.outcome, Outcome::ok) << k << " " << sums.chunk << ": " << many.message;
        EXPECT_LT(many.worst_error, 0.4) << k << " " << sums.chunk;
        EXPECT_EQ(sums_with(kF32, sums, k, 1, are_positive).outcome, Outcome::ok) << k;
      }
    }
  }
}

TEST(Compare, ALargerToleranceAdmitsLessPrecision) {
  // Of a kernel that is meant to add in f16: 2^13 times the tolerance.
  const std::int64_t k = 1024;
  std::vector<Float16> a(64 * k);
  fill_elements(std::as_writable_bytes(std::span(a)), ElementType::f16,
                {Drawing::uniform, false, 1});
  std::vector<float> got(64);
  std::vector<double> right(64), magnitudes(64);
  for (std::int64_t i = 0; i < 64; ++i) {
    Float16 sum{};
    for (std::int64_t j = 0; j < k; ++j) {
      const float x = a[i * k + j];
      sum = Float16(static_cast<float>(sum) + x);
      right[i] += x;
      magnitudes[i] += std::abs(x);
    }
    got[i] = sum;
  }
  EXPECT_EQ(compared<float>(floats(64, 1024), got, {right, magnitudes}).outcome, Outcome::wrong);
  expect_right_verdict(compared<float>(floats(64, 1024 << 13), got, {right, magnitudes}));
}

TEST(Compare, NarrowResultsWithoutToleranceAreRightWhereRoundedToNearest) {
  const std::vector<double> right{1 + 0x1p-11, 0x1p-25, 1};
  const auto verdict = [&](std::vector<Float16> got) {
    const BufferSpec buffer{"c", ElementType::f16, 3, Role::output};
    return compare(buffer, bytes_in(got), {ElementType::f64, bytes_in(right)});
  };
  EXPECT_EQ(verdict({Float16(1), Float16(0), Float16(1)}).outcome, Outcome::ok);
  EXPECT_EQ(
      verdict({Float16(1), Float16(0), Float16(1 + 0x1p-10)}).message,
      "c[2] is 1.0009766, expected 1 (tolerance 0.00049); 1 of 3 elements is wrong; that is 2 "
      "roundings: `tolerance` of c says how many are right");
  EXPECT_EQ(verdict({Float16(1), Float16(0), Float16(1 + 0x1p-10)}).worst_error, 2);
}

TEST(Compare, AResultOfEightBitsThatIsTooLargeIsTheLargest) {
  const std::vector<double> right{1 + 0x1p-4, 1000, -1000};
  const auto outcome = [&](std::vector<Float8E4M3> got) {
    const BufferSpec buffer{"c", ElementType::e4m3, 3, Role::output};
    return compare(buffer, bytes_in(got), {ElementType::f64, bytes_in(right)}).outcome;
  };
  EXPECT_EQ(outcome({Float8E4M3(1), Float8E4M3(448), Float8E4M3(-448)}), Outcome::ok);
  EXPECT_EQ(outcome({Float8E4M3(1), Float8E4M3(448), Float8E4M3(448)}), Outcome::wrong);
  EXPECT_EQ(outcome({Float8E4M3(1), Float8E4M3(384), Float8E4M3(-448)}), Outcome::wrong);
  EXPECT_EQ(outcome({Float8E4M3(1.25), Float8E4M3(448), Float8E4M3(-448)}), Outcome::wrong);
}

TEST(Compare, ANarrowReferenceIsRoundedItself) {
  const std::vector<BFloat16> right{BFloat16(1)}, next{BFloat16(1 + 0x1p-7)};
  const auto outcome = [&](double tolerance) {
    const BufferSpec buffer{"c", ElementType::bf16, 1, Role::output, Fill::random, tolerance};
    return compare(buffer, bytes_in(next), {ElementType::bf16, bytes_in(right)}).outcome;
  };
  EXPECT_EQ(outcome(1), Outcome::ok);
  EXPECT_EQ(outcome(0), Outcome::wrong);
}

/// `near` is the right value but for the last bit.
template <class T>
void expect_exact(ElementType type, T right, T near, const std::string& message) {
  const BufferSpec buffer{"n", type, 2, Role::output, Fill::zero, 1000};
  EXPECT_EQ(compared<T>(buffer, {7, right}, {{7, right}}).outcome, Outcome::ok);
  EXPECT_EQ(compared<T>(buffer, {7, near}, {{7, right}}).message,
            "n[1] is " + message + " (must be equal); 1 of 2 elements is wrong");
}

TEST(Compare, IntegersAreExactToTheLastBitWhateverTheTolerance) {
  constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;  // which no double is
  expect_exact(ElementType::i32, -7, -8, "-8, expected -7");
  expect_exact(ElementType::u32, 4294967295u, 4294967294u, "4294967294, expected 4294967295");
  expect_exact(ElementType::i64, kLarge, kLarge - 1, "9007199254740992, expected 9007199254740993");
}

TEST(Compare, AReferenceThatWritesFloatWhereItMustWriteDoubleIsToldSo) {
  const std::vector<float> got{-3, 5, 7, 9};
  std::vector<double> right(4);
  std::memcpy(right.data(), got.data(), got.size() * sizeof(float));
  const std::string message = compared<float>(floats(4, 1), got, {right}).message;
  EXPECT_EQ(message,
            "C[0] is -3, as in the reference if that writes f32: it must write double, or say "
            "outputs = \"same\" in [reference]");
  EXPECT_EQ(compared<float>(floats(2, 1), {0, 5}, {{32, 5}}).message,
            "C[0] is 0, expected 32 (tolerance 3.8e-06); 1 of 2 elements is wrong")
      << "the low half of 32 is 0, which says nothing";
}

TEST(Compare, PartsTogetherFindWhatTheWholeDoes) {
  const BufferSpec buffer = floats(1000, 1);
  std::vector<float> got(1000, 1.0f);
  const std::vector<double> right(1000, 1.0);
  got[250] = 2;
  got[999] = 3;
  const auto bytes = bytes_in(got);
  const Expected expected{ElementType::f64, bytes_in(right)};
  Finding parts;
  for (const std::int64_t first : {900, 0, 300}) {
    add(parts, compare_elements(buffer, bytes, expected, first,
                                first == 0     ? 300
                                : first == 300 ? 600
                                               : 100));
  }
  const Finding whole = compare_elements(buffer, bytes, expected, 0, 1000);
  EXPECT_EQ(parts.wrong, 2u);
  EXPECT_EQ(parts.first, 250u);
  EXPECT_EQ(parts.worst, whole.worst);
  EXPECT_EQ(parts.squares, whole.squares);
  EXPECT_EQ(parts.shares, whole.shares);
}

std::vector<std::byte> painted_zone(Poison with) {
  return std::vector<std::byte>(kRedZoneBytes, poison_byte(ElementType::f32, with));
}

TEST(RedZones, AnElementPastTheEndIsNamed) {
  for (const Poison with : {Poison::nan, Poison::high, Poison::low}) {
    const std::vector<std::byte> before = painted_zone(with);
    std::vector<std::byte> after = before;
    EXPECT_EQ(check_red_zones(floats(4096), with, before, after).outcome, Outcome::ok);
    std::memset(after.data(), 0, 8);
    const Verdict verdict = check_red_zones(floats(4096), with, before, after);
    EXPECT_EQ(verdict.outcome, Outcome::wrong);
    EXPECT_EQ(verdict.message, "wrote C[4096], outside C[0..4095]; 8 bytes around C changed");
  }
}

TEST(RedZones, AnElementBeforeTheStartIsNamedWithItsNegativeIndex) {
  std::vector<std::byte> before = painted_zone(Poison::nan);
  const std::vector<std::byte> after = before;
  std::memset(before.data() + kRedZoneBytes - 8, 0, 4);
  EXPECT_EQ(check_red_zones(floats(16), Poison::nan, before, after).message,
            "wrote C[-2], outside C[0..15]; 4 bytes around C changed");
}

TEST(Runs, ThatDifferInOneBitAreNondeterministic) {
  const std::vector<float> first{1, 2, 3, 0.f}, same = first, other{1, 2, 3.5, -0.f};
  EXPECT_EQ(compare_runs(floats(4), bytes_in(first), bytes_in(same)).outcome, Outcome::ok);
  const Verdict verdict = compare_runs(floats(4), bytes_in(first), bytes_in(other));
  EXPECT_EQ(verdict.outcome, Outcome::nondeterministic);
  EXPECT_EQ(
      verdict.message,
      "C[2] is 3 in one run and 3.5 in the next on the same inputs; 2 of 4 elements differ; if "
      "the tolerance is enough, leave out \"repeatable\"");
}

TEST(Absolute, IsAllowedBesideTheRelativeTolerance) {
  const std::vector<float> right{0, 1000}, got{0.9f, 1000.9f}, far{1.25f, 1000};
  const auto verdict = [&](const BufferSpec& buffer, const auto& values, bool exact) {
    return compare(buffer, bytes_in(values), {buffer.type, bytes_in(right), {}, exact});
  };
  BufferSpec buffer{"c", ElementType::f32, 2, Role::output};
  EXPECT_EQ(verdict(buffer, got, false).outcome, Outcome::wrong);
  buffer.absolute = 1;
  EXPECT_EQ(verdict(buffer, got, false).outcome, Outcome::ok);
  EXPECT_EQ(verdict(buffer, got, true).outcome, Outcome::ok);
  EXPECT_EQ(verdict(buffer, far, false).message,
            "c[0] is 1.25, expected 0 (tolerance 1); 1 of 2 elements is wrong");
}

TEST(Absolute, IsAllThatIsAllowedInIntegerTypes) {
  const std::vector<std::int32_t> right{5, 5}, got{4, 6}, far{3, 5};
  BufferSpec buffer{"c", ElementType::i32, 2, Role::output, Fill::random, /*tolerance=*/100};
  buffer.absolute = 1;
  const Expected expected{ElementType::i32, bytes_in(right)};
  EXPECT_EQ(compare(buffer, bytes_in(got), expected).outcome, Outcome::ok);
  EXPECT_EQ(compare(buffer, bytes_in(far), expected).outcome, Outcome::wrong);
  // Two runs must still be alike.
  EXPECT_EQ(compare_runs(buffer, bytes_in(got), bytes_in(right)).outcome,
            Outcome::nondeterministic);
}

}  // namespace
}  // namespace autotune
