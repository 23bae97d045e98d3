// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/tuner/core/evaluated.hpp"
#include "tuner/core/value.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::value_of;

TEST(ExpressionValues, FunctionsComputeWhatTheirNamesSay) {
  EXPECT_EQ(value_of("min(3, 1, 2)"), 1);
  EXPECT_EQ(value_of("max(3, 1, 2, 9)"), 9);
  EXPECT_EQ(value_of("ceil_div(7, 2)"), 4);
  EXPECT_EQ(value_of("ceil_div(8, 2)"), 4);
  EXPECT_EQ(value_of("ceil_div(-7, 2)"), -3);
  EXPECT_EQ(value_of("round_up(17, 8)"), 24);
  EXPECT_EQ(value_of("round_up(16, 8)"), 16);
  EXPECT_EQ(value_of("is_pow2(64) + is_pow2(0) + is_pow2(-4) + is_pow2(6)"), 1);
  EXPECT_EQ(value_of("abs(-3) + abs(3)"), 6);
  EXPECT_EQ(value_of("log2(1)"), 0);
  EXPECT_EQ(value_of("log2(1023)"), 9);
}

TEST(ExpressionValues, WordsAreCompared) {
  const Expression expression = Expression::parse("PREFETCH == 'register' && 'a' != 'b'");
  EXPECT_EQ(expression.evaluate(std::vector{word_code("register")}), 1);
  EXPECT_EQ(expression.evaluate(std::vector{word_code("shared")}), 0);
  EXPECT_THAT(expression.words(), ElementsAre("register", "a", "b"));
  EXPECT_EQ(expression.column_of("register"), 13);
  EXPECT_EQ(error_of("1 + 'a'").column(), 5);
  EXPECT_EQ(error_of("'a'").column(), 1);
  EXPECT_EQ(error_of("'a' ? 1 : 2").column(), 1);
  EXPECT_EQ(error_of("x && ('a')").column(), 6);
  EXPECT_EQ(error_of("min(1, 'a')").column(), 8);
  EXPECT_EQ(error_of("'a' < 'b'").column(), 1);
}

TEST(ExpressionValues, FunctionErrorsSayWhatIsThere) {
  EXPECT_THAT(error_of("ceil_dif(1, 2)").what(), HasSubstr("did you mean ceil_div?"));
  EXPECT_THAT(error_of("ceil_div(1)").what(), HasSubstr("ceil_div takes 2 arguments"));
  EXPECT_THAT(error_of("ceil_div(1, 2, 3)").what(), HasSubstr("ceil_div takes 2 arguments"));
  EXPECT_THAT(error_of("is_pow2(1, 2)").what(), HasSubstr("is_pow2 takes 1 argument "));
  EXPECT_THAT(error_of("min(1)").what(), HasSubstr("min takes 2 or more arguments"));
  EXPECT_THAT(error_of("min(1, 2").what(), HasSubstr("expected ')'"));
}

TEST(ExpressionValues, DivisorsRoundingAndBytes) {
  EXPECT_EQ(value_of("gcd(12, 18, 8)"), 2);
  EXPECT_EQ(value_of("gcd(0, 5)"), 5);
  EXPECT_EQ(value_of("round_down(17, 8)"), 16);
  EXPECT_EQ(value_of("round_down(-1, 8)"), -8);
  EXPECT_EQ(value_of("bytes('f64') + bytes('i32')"), 12);
  EXPECT_EQ(error_of("bytes('f33')").column(), 7);
}

TEST(ExpressionValues, RealNumbersAreMadeByAPointAndLeftByRounding) {
  EXPECT_EQ(value_of("int(7 / 2.0 * 2)"), 7);
  EXPECT_EQ(value_of("floor(-1.5) * 10 + ceil(-1.5)"), -21);
  EXPECT_EQ(value_of("int(sqrt(16) + pow(2, 3))"), 12);
  EXPECT_EQ(value_of("int((1 ? 1 : 0.5) + (0 ? 0.5 : 1))"), 2);
  EXPECT_EQ(value_of("max(1, 2.5) == 2.5"), 1);
  EXPECT_EQ(value_of("int(abs(-1.5) - -1.5)"), 3);
  EXPECT_EQ(error_of("1.5 % 2").column(), 5);
  EXPECT_EQ(error_of("1.5 and 1").column(), 1);
  EXPECT_EQ(error_of("ceil_div(1.5, 1)").column(), 10);
  EXPECT_EQ(error_of("1 + 2.5").column(), 1);
  EXPECT_EQ(error_of("int(1.0 / 0)").column(), 9);
}

TEST(ExpressionValues, AResolverSaysWhatNamesMean) {
  const std::vector<std::string> loaders = {"async", "tma"};
  const auto twice = std::make_shared<const FunctionText>(FunctionText{{"a"}, "a + a * B"});
  const NameResolver resolver = [&](const std::string& name) -> NameMeaning {
    if (name == "LOADER") return {ValueKind::word, name, &loaders};
    if (name == "A" || name == "C") return {ValueKind::handle, name};
    if (name == "twice") return {ValueKind::any, name, nullptr, twice};
    if (name == "B") return {ValueKind::integer, "fast.B"};
    throw NameError("there is no name " + name);
  };
  const auto value = [&](const char* text, std::int64_t b) {
    return Expression::parse(text, resolver).evaluate([&](const std::string&) { return b; });
  };
  EXPECT_EQ(value("twice(B + 1) * 10", 2), 90);
  EXPECT_EQ(value("1 + twice(twice(1))", 1), 5);
  EXPECT_EQ(Expression::parse("B > 1 ? A : C", resolver).kind(), ValueKind::handle);
  const auto reason = [&](const char* text) -> std::string {
    try {
      Expression::parse(text, resolver);
    } catch (const ExpressionError& error) {
      return std::to_string(error.column()) + ": " + error.reason();
    }
    return "";
  };
  EXPECT_THAT(reason("LOADER == 'tna'"),
              HasSubstr("11: there is no LOADER 'tna' (did you mean tma?"));
  EXPECT_THAT(reason("B + LOADER"), HasSubstr("5: LOADER holds a word"));
  EXPECT_THAT(reason("A + 1"), HasSubstr("1: A is not a number"));
  EXPECT_THAT(reason("2 * x"), HasSubstr("5: there is no name x"));
  EXPECT_THAT(reason("twice(1, 2)"), HasSubstr("1: twice takes 1 argument"));
  EXPECT_THAT(reason("LOADER == 3"), HasSubstr("a word is compared with words only"));
}

}  // namespace
}  // namespace autotune
