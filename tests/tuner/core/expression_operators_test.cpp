// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <utility>

#include "tests/tuner/core/evaluated.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::value_of;

TEST(ExpressionOperators, OperatorsBindAsInC) {
  EXPECT_EQ(value_of("2 + 3 * 4"), 14);
  EXPECT_EQ(value_of("(2 + 3) * 4"), 20);
  EXPECT_EQ(value_of("20 - 3 - 4"), 13);
  EXPECT_EQ(value_of("100 / 10 / 5 % 2"), 0);
  EXPECT_EQ(value_of("1 + 1 == 2 && 3 < 4"), 1);
  EXPECT_EQ(value_of("0 && 0 || 1"), 1);
  EXPECT_EQ(value_of("1 || 0 && 0"), 1);
  EXPECT_EQ(value_of("1 < 2 == 1"), 1);
  EXPECT_EQ(value_of("-2 * -3"), 6);
  EXPECT_EQ(value_of("- - 2"), 2);
  EXPECT_EQ(value_of("!0 + !5"), 1);
  EXPECT_EQ(value_of("!!7"), 1);
  EXPECT_EQ(value_of("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(value_of("1 ? 0 ? 1 : 2 : 3"), 2);
}

TEST(ExpressionOperators, DivisionTruncatesAsInC) {
  EXPECT_EQ(value_of("-7 / 2"), -3);
  EXPECT_EQ(value_of("-7 % 2"), -1);
  EXPECT_EQ(value_of("7 % -1"), 0);
}

TEST(ExpressionOperators, LogicYieldsOneOrZero) {
  EXPECT_EQ(value_of("5 && 7"), 1);
  EXPECT_EQ(value_of("5 || 0"), 1);
  EXPECT_EQ(value_of("0 || 9"), 1);
  EXPECT_EQ(value_of("0 || 0"), 0);
  EXPECT_EQ(value_of("0 && 1"), 0);
  EXPECT_EQ(value_of("1 && 1 && 0"), 0);
}

TEST(ExpressionOperators, TheUntakenSideIsNotEvaluated) {
  EXPECT_EQ(value_of("1 ? 5 : 1 / 0"), 5);
  EXPECT_EQ(value_of("0 ? 1 / 0 : 6"), 6);
  EXPECT_EQ(value_of("0 && 1 / 0"), 0);
  EXPECT_EQ(value_of("1 || 1 / 0"), 1);
}

TEST(ExpressionOperators, WordsOfEnglishBindLooserThanComparisons) {
  EXPECT_EQ(value_of("1 == 1 and not 2 == 3"), 1);
  EXPECT_EQ(value_of("not 1 == 2 or 1 / 0"), 1);
  EXPECT_EQ(value_of("0 implies 1 / 0"), 1);
  EXPECT_EQ(value_of("1 implies 0 implies 0"), 1);
  EXPECT_EQ(value_of("5 implies 7"), 1);
  EXPECT_EQ(value_of("0 or 1 implies 0"), 0);
  EXPECT_EQ(value_of("1 implies 0 ? 2 : 3"), 3);
  EXPECT_EQ(value_of("true and false"), 0);
  // None of them but `not` is taken from names.
  const Expression in = Expression::parse("in in [and, 2]");
  EXPECT_THAT(in.names(), ElementsAre("in", "and"));
}

TEST(ExpressionOperators, ChainsCompareNeighboursAndEvaluateEachOnce) {
  EXPECT_EQ(value_of("1 <= 2 < 3"), 1);
  EXPECT_EQ(value_of("3 > 2 > 1 >= 1"), 1);
  EXPECT_EQ(value_of("1 < 3 < 2"), 0);
  EXPECT_EQ(value_of("2 < 1 < 1 / 0"), 0);
  EXPECT_EQ(value_of("10 + (1 < 2 < 3 < 3)"), 10);
  EXPECT_EQ(value_of("1 < 1.5 < 2"), 1);
}

TEST(ExpressionOperators, MembershipTakesAList) {
  EXPECT_EQ(value_of("3 in [1, 2, 3]"), 1);
  EXPECT_EQ(value_of("3 not in [1, 2, 3]"), 0);
  EXPECT_EQ(value_of("'b' in ['a', \"b\"] and 4 not in [5]"), 1);
  EXPECT_EQ(value_of("2.0 in [1, 2]"), 1);
}

TEST(ExpressionOperators, OperatorsOfPythonAndCAreAnsweredWithAdvice) {
  const std::pair<const char*, const char*> advice[] = {
      {"a // b", "'//' is not an operator: '/' divides integers as C does"},
      {"a ** 2", "'**' is not an operator: pow(a, b) is a power"},
      {"a ^ 2", "'^' is not an operator: pow(a, b) is a power"},
      {"a << 2", "'<<' is not an operator: multiply by a power of two"},
      {"a >> 2 == 1", "'>>' is not an operator: divide by a power of two"},
      {"a & b", "'&' is not an operator, '&&' is"},
      {"a | b", "'|' is not an operator, '||' is"},
      {"a if b else c", "'if' is not an operator: write condition ? a : b"},
      {"a = 1", "'=' is not an operator, '==' compares"}};
  for (const auto& [text, what] : advice) {
    EXPECT_THAT(error_of(text).what(), HasSubstr(what)) << text;
  }
}

}  // namespace
}  // namespace autotune
