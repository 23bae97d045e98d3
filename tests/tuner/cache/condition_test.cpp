// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/condition.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

MacroTable macros() {
  MacroTable table;
  table.known = {{"BM", "64"}, {"TILE", "BM * 2"}, {"EMPTY", ""}, {"SELF", "SELF + SELF"}};
  table.unknown = {"MAX"};
  return table;
}

std::optional<bool> holds(std::string_view text) { return condition(text, macros()); }

TEST(Condition, IsComputedAsInC) {
  EXPECT_EQ(holds("BM == 64 && TILE > BM"), true);
  EXPECT_EQ(holds("TILE == 128"), true);
  EXPECT_EQ(holds("1 + 2 * 3 == 7 && !(4 / 2 - 2)"), true);
  EXPECT_EQ(holds("0x10 == 16 && 010 == 8L"), true);
  EXPECT_EQ(holds("-BM < 0"), true);
  EXPECT_EQ(holds("1 | 2 == 3"), true);  // 1 | (2 == 3)
  EXPECT_EQ(holds("BM % 3"), true);
  EXPECT_EQ(holds("BM % 2"), false);
}

TEST(Condition, ANameThatIsNoMacroIsZero) {
  EXPECT_EQ(holds("BN"), false);
  EXPECT_EQ(holds("defined(BM) && !defined BN"), true);
}

TEST(Condition, IsUnknownOnlyWhereWhatIsUnknownDecides) {
  EXPECT_EQ(holds("MAX > 3"), std::nullopt);
  EXPECT_EQ(holds("__CUDA_ARCH__ >= 900"), std::nullopt);
  EXPECT_EQ(holds("BM == 32 && MAX"), false);
  EXPECT_EQ(holds("MAX || BM == 64"), true);
  EXPECT_EQ(holds("BM == 64 && MAX"), std::nullopt);
  EXPECT_EQ(holds("!MAX"), std::nullopt);
  MacroTable after_a_header = macros();
  after_a_header.others_unknown = true;
  EXPECT_EQ(condition("BN", after_a_header), std::nullopt);
  EXPECT_EQ(condition("defined(AUTOTUNE_HOST)", after_a_header), false);
}

TEST(Condition, WhatItDoesNotComputeIsUnknown) {
  for (const char* const text : {"", "BM 64", "(BM", "BM ? 1 : 0", "1 << 2", "1 / 0", "1.5", "~0",
                                 "EMPTY", "__has_include(<a.h>)", "BM ==", "defined", "1'000"}) {
    EXPECT_EQ(holds(text), std::nullopt) << text;
  }
}

TEST(Condition, WhereSignsAndUnsignedNumbersMeetIsUnknown) {
  EXPECT_EQ(holds("BM > 32u"), true);
  EXPECT_EQ(holds("2u - 3 > 0"), std::nullopt);
  EXPECT_EQ(holds("-1 > 0u"), std::nullopt);  // true in C, where -1 becomes unsigned
  EXPECT_EQ(holds("-1 > 0"), false);
  EXPECT_EQ(holds("18446744073709551615 > 0"), std::nullopt);
}

TEST(Condition, MacrosThatNameThemselvesEnd) {
  EXPECT_EQ(holds("SELF"), std::nullopt);  // 2^32 tokens without a bound
}

}  // namespace
}  // namespace autotune
