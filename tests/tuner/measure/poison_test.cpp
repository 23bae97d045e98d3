// SPDX-License-Identifier: Apache-2.0
// What outputs hold before a call, and how an element that still holds it is named.
#include <cmath>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/tuner/measure/compared.hpp"

namespace autotune {
namespace {

template <class T>
T poisoned(ElementType type, Poison with) {
  T element{};
  poison(std::as_writable_bytes(std::span(&element, 1)), type, with);
  return element;
}

TEST(Poison, IsNanOrAFiniteNumberNearAnEndOfTheRangeInFloatingTypes) {
  EXPECT_TRUE(std::isnan(poisoned<float>(ElementType::f32, Poison::nan)));
  EXPECT_GT(poisoned<float>(ElementType::f32, Poison::high), 1e38f);
  EXPECT_LT(poisoned<float>(ElementType::f32, Poison::low), -1e38f);
  EXPECT_TRUE(std::isnan(poisoned<double>(ElementType::f64, Poison::nan)));
  EXPECT_GT(poisoned<double>(ElementType::f64, Poison::high), 1e300);
  EXPECT_LT(poisoned<double>(ElementType::f64, Poison::low), -1e300);
  const auto narrow = [](Poison with) {
    return static_cast<float>(poisoned<Float16>(ElementType::f16, with));
  };
  EXPECT_TRUE(std::isnan(narrow(Poison::nan)));
  EXPECT_GT(narrow(Poison::high), 1e4f);
  EXPECT_LT(narrow(Poison::low), -1e4f);
  EXPECT_TRUE(std::isfinite(narrow(Poison::high)) && std::isfinite(narrow(Poison::low)));
  EXPECT_GT(static_cast<float>(poisoned<BFloat16>(ElementType::bf16, Poison::high)), 1e38f);
}

TEST(Poison, OfEightBitsIsNanOrTheLargestNumber) {
  const auto e4m3 = [](Poison with) {
    return static_cast<float>(poisoned<Float8E4M3>(ElementType::e4m3, with));
  };
  EXPECT_TRUE(std::isnan(e4m3(Poison::nan)));
  EXPECT_EQ(e4m3(Poison::high), 448);
  EXPECT_EQ(e4m3(Poison::low), -448);
  const auto high = poisoned<Float8E5M2>(ElementType::e5m2, Poison::high);
  EXPECT_EQ(static_cast<float>(high), 57344);
}

TEST(Poison, IsFarFromZeroOnBothSidesInIntegers) {
  EXPECT_LT(poisoned<std::int32_t>(ElementType::i32, Poison::nan), -1000000000);
  EXPECT_GT(poisoned<std::int32_t>(ElementType::i32, Poison::high), 1000000000);
  EXPECT_LT(poisoned<std::int32_t>(ElementType::i32, Poison::low), -1000000000);
  EXPECT_GT(poisoned<std::uint32_t>(ElementType::u32, Poison::nan), 2000000000u);
  EXPECT_LT(poisoned<std::uint32_t>(ElementType::u32, Poison::low), 20000000u);
}

TEST(Poison, AnIntegerThatNobodyWroteIsNamedAsThat) {
  const BufferSpec marks{"y", ElementType::i32, 3, Role::output};
  std::vector<std::int32_t> got(3), right{0, 0, 7};
  for (const Poison with : {Poison::nan, Poison::high, Poison::low}) {
    poison(std::as_writable_bytes(std::span(got)), ElementType::i32, with);
    got[2] = 7;
    const Expected expected{ElementType::i32, bytes_in(right)};
    EXPECT_EQ(compare(marks, bytes_in(got), expected, with).message,
              "y[0] was not written (expected 0); 2 of 3 elements are wrong: outputs do not start "
              "with zeros (clear them in the kernel, or make y an inout with fill = \"zero\")");
  }
}

TEST(Poison, APoisonedOutputThatNobodyWroteIsWrongInEveryType) {
  const auto check = [](auto zero, ElementType type) {
    using T = decltype(zero);
    const BufferSpec buffer{"y", type, 4, Role::output, Fill::zero, 1e6};
    std::vector<T> got(4);
    poison(std::as_writable_bytes(std::span(got)), type);
    EXPECT_THAT(compared<T>(buffer, got, {{T(0), T(1), T(2), T(3)}}).message,
                HasSubstr("4 of 4 elements are wrong"))
        << name_of(type);
  };
  check(float{}, ElementType::f32);
  check(double{}, ElementType::f64);
  check(std::int32_t{}, ElementType::i32);
  check(std::int64_t{}, ElementType::i64);
  check(Float16{}, ElementType::f16);
  check(BFloat16{}, ElementType::bf16);
  check(std::int16_t{}, ElementType::i16);
  check(std::uint16_t{}, ElementType::u16);
  check(std::uint32_t{}, ElementType::u32);
  check(std::uint64_t{}, ElementType::u64);
}

TEST(Poison, WhatTheReferenceDoesNotWriteIsSaidSo) {
  std::vector<double> right(3);
  poison(std::as_writable_bytes(std::span(right)), ElementType::f64);
  right[0] = 5;
  std::vector<float> got(3);
  poison(std::as_writable_bytes(std::span(got)), ElementType::f32);
  EXPECT_EQ(compared<float>(floats(3, 1), got, {right}).message,
            "C[0] was not written, or comes from memory that nobody wrote (expected 5); 3 of 3 "
            "elements are wrong: outputs do not start with zeros (clear them in the kernel, or "
            "make C an inout with fill = \"zero\"), and nothing may be read outside of a buffer");
  got[0] = 5;
  const Verdict neither = compared<float>(floats(3, 1), got, {right});
  EXPECT_EQ(neither.message,
            "C[1] is written neither by the kernel nor by the reference (make C an inout: it keeps "
            "its fill there); 2 of 3 elements are wrong");
  EXPECT_EQ(neither.unwritten, "C");
  EXPECT_FALSE(neither.is_undefined);
  got[1] = 2;
  EXPECT_EQ(compared<float>(floats(3, 1), got, {right}).unwritten, "");
  EXPECT_EQ(compared<float>(floats(3, 1), got, {right}).message,
            "C[1] is 2, and the reference does not write it; 2 of 3 elements are wrong");
}

TEST(Poison, SmallIntegersAreUnwrittenIfBothHoldTheirPoison) {
  const BufferSpec bytes{"C", ElementType::u8, 2, Role::output};
  const auto high = poisoned<std::uint8_t>(ElementType::u8, Poison::high);
  const auto first = poisoned<std::uint8_t>(ElementType::u8, Poison::nan);
  const auto unwritten = [&](std::uint8_t got, std::uint8_t right) {
    const std::vector<std::uint8_t> all(2, got), expected(2, right);
    return compare(bytes, bytes_in(all), {ElementType::u8, bytes_in(expected)}, Poison::high)
        .unwritten;
  };
  EXPECT_EQ(unwritten(high, first), "C");
  EXPECT_EQ(unwritten(high, 3), "");
  EXPECT_EQ(unwritten(3, first), "");
}

TEST(Poison, AnInoutThatHoldsPoisonHasReadWhatNobodyWrote) {
  std::vector<double> right(2, 5);
  std::vector<float> got(2);
  poison(std::as_writable_bytes(std::span(got)), ElementType::f32);
  BufferSpec inout = floats(2, 1);
  inout.role = Role::inout;
  EXPECT_THAT(
      compared<float>(inout, got, {right}).message,
      HasSubstr("C[0] comes from memory that nobody wrote (expected 5); 2 of 2 elements are "
                "wrong: nothing may be read outside of a buffer"));
  poison(std::as_writable_bytes(std::span(right)), ElementType::f64);
  const Verdict both = compared<float>(inout, got, {right});
  EXPECT_THAT(both.message, HasSubstr("nobody wrote, in the reference, too;"));
  EXPECT_EQ(both.unwritten, "");
}

}  // namespace
}  // namespace autotune
