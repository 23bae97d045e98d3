// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression.hpp"

#include <memory>
#include <random>
#include <utility>

#include "tests/support/matchers.hpp"
#include "tuner/core/expression_program.hpp"
#include "tuner/core/value.hpp"

namespace autotune {
namespace {

std::int64_t value_of(std::string_view text) {
  return Expression::parse(text).evaluate(std::vector<std::int64_t>{});
}

/// Parses, and evaluates with every name as 0.
ExpressionError error_of(std::string_view text) {
  try {
    Expression::parse(text).evaluate([](const std::string&) { return std::int64_t{0}; });
  } catch (const ExpressionError& error) {
    return error;
  }
  ADD_FAILURE() << text << " is fine";
  return {"", 0, ""};
}

TEST(Expression, NamesComeInOrderOfFirstAppearance) {
  const Expression expression = Expression::parse("BM * device.warp_size + BM - tile_2");
  EXPECT_THAT(expression.names(), ElementsAre("BM", "device.warp_size", "tile_2"));
  EXPECT_EQ(expression.evaluate(std::vector<std::int64_t>{4, 32, 1}), 131);
  EXPECT_EQ(expression.column_of("device.warp_size"), 6);
  EXPECT_EQ(expression.column_of("tile_2"), 30);
}

TEST(ExpressionParser, MisspeltTextNamesTheColumn) {
  EXPECT_EQ(error_of("").column(), 1);
  EXPECT_EQ(error_of("  1 +").column(), 6);
  EXPECT_EQ(error_of("1 2").column(), 3);
  EXPECT_EQ(error_of("(1").column(), 3);
  EXPECT_EQ(error_of("1)").column(), 2);
  EXPECT_EQ(error_of("a = b").column(), 3);
  EXPECT_EQ(error_of("a & b").column(), 3);
  EXPECT_EQ(error_of("1.").column(), 2);
  EXPECT_EQ(error_of("2x").column(), 2);
  EXPECT_EQ(error_of("99999999999999999999").column(), 1);
  EXPECT_EQ(error_of("a ? b").column(), 6);
  EXPECT_EQ(error_of("'abc").column(), 1);
  EXPECT_EQ(error_of("a == \"abc").column(), 6);
  EXPECT_EQ(error_of("a < b > c").column(), 7);
  EXPECT_EQ(error_of("a // b").column(), 3);
  EXPECT_EQ(error_of("a ** b").column(), 3);
  EXPECT_EQ(error_of("a in 2").column(), 6);
  EXPECT_EQ(error_of("a == b == c").column(), 8);
  EXPECT_EQ(error_of("gpu.size").column(), 4);
  EXPECT_EQ(error_of("device.").column(), 8);
  EXPECT_EQ(error_of("a \x01").column(), 3);
}

TEST(ExpressionParser, DeepNestingIsRefusedNotAStackOverflow) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(value_of(nested(50)), 1);
  EXPECT_THAT(error_of(nested(3000)).what(), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(5000, '-').append("1")).what(), HasSubstr("nested too deeply"));
  std::string right = "1";
  for (int i = 0; i < 90; ++i) right = "1 == 1 < 1 + 1 * (" + right + ")";
  EXPECT_THAT(error_of(right).what(), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(20000, ' ').append("1")).what(), HasSubstr("too long"));
}

TEST(ExpressionMachine, OverflowAndDivisionByZeroNameTheColumn) {
  EXPECT_EQ(error_of("9223372036854775807 + 1").column(), 21);
  EXPECT_EQ(error_of("-9223372036854775807 - 2").column(), 22);
  EXPECT_EQ(error_of("4294967296 * 4294967296").column(), 12);
  EXPECT_EQ(error_of("(-9223372036854775807 - 1) / -1").column(), 28);
  EXPECT_EQ(error_of("-(-9223372036854775807 - 1)").column(), 1);
  EXPECT_EQ(error_of("round_up(9223372036854775807, 2)").column(), 1);
  EXPECT_EQ(error_of("8 / 0").column(), 3);
  EXPECT_EQ(error_of("8 % x").column(), 3);
  EXPECT_EQ(error_of("1 + ceil_div(8, x)").column(), 5);
  EXPECT_EQ(error_of("log2(0)").column(), 1);
  EXPECT_STREQ(error_of("M / 0").what(), "division by zero at column 3 of \"M / 0\"");
}

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

/// Fingerprints of stored results are made of identities. A change here makes every one stale.
std::string identity(std::string_view text) {
  return Expression::parse(text).identity([](const std::string& name) { return '<' + name + '>'; });
}

TEST(ExpressionIdentity, StaysAsItWas) {
  EXPECT_EQ(identity("M"), "load <M>;");
  EXPECT_EQ(identity("ceil_div(M, 2 * BM)"),
            "load <M>;constant 2;load <BM>;multiply 0;ceil_div 0;");
}

TEST(ExpressionIdentity, SpacesAndBracketsWithoutEffectDoNotMatter) {
  EXPECT_EQ(identity("M*K+1"), identity("( M * K ) + 1"));
}

TEST(ExpressionIdentity, DiffersByNameOperatorConstantAndOrder) {
  EXPECT_NE(identity("M + K"), identity("M + N"));
  EXPECT_NE(identity("M + K"), identity("M - K"));
  EXPECT_NE(identity("M + 1"), identity("M + 2"));
  EXPECT_NE(identity("M - K"), identity("K - M"));
  EXPECT_NE(identity("M * (K + 1)"), identity("M * K + 1"));
}

TEST(ExpressionIdentity, OfIntegersIsNotThatOfRealNumbers) {
  EXPECT_NE(identity("M / 2"), identity("int(M / 2.0)"));
}

// Folded code does what the code does, for all values of what is not known, faults included.

using Code = std::vector<Instruction>;
constexpr std::int64_t kUnknown = -1;

/// The code of a text in which the names a, b, … have these values, as far as they are known. Loads
/// have the number of the name.
Code code_of(const std::string& text, const std::vector<std::int64_t>& known) {
  const ExpressionProgram program = parse_expression(text, [](const std::string& name) {
    return NameMeaning{ValueKind::integer, name};
  });
  Code code = program.code;
  for (Instruction& each : code) {
    if (each.op != Op::load) continue;
    each.operand = program.names[static_cast<std::size_t>(each.operand)][0] - 'a';
    const std::int64_t value = known[static_cast<std::size_t>(each.operand)];
    if (value != kUnknown) each = {Op::constant, each.column, value};
  }
  return code;
}

std::string text_of(const Code& code) {
  std::string text;
  for (const Instruction& each : code) {
    text += std::to_string(static_cast<int>(each.op)) + ":" + std::to_string(each.operand) + " ";
  }
  return text;
}

TEST(ExpressionFolding, ComputesWhatIsKnown) {
  const auto constant = [](const std::string& text) {
    const Code code = folded(code_of(text, {3, kUnknown}));
    EXPECT_EQ(code.size(), 1u) << text << ": " << text_of(code);
    EXPECT_EQ(code[0].op, Op::constant) << text;
    return code[0].operand;
  };
  EXPECT_EQ(constant("a * 4 + 1"), 13);
  EXPECT_EQ(constant("a in [1, 3] and a < 4 <= a + 1"), 1);
  EXPECT_EQ(constant("a == 3 ? 10 : b"), 10);
  EXPECT_EQ(constant("a == 4 ? b : a == 3 ? 11 : b"), 11);
  EXPECT_EQ(constant("a == 4 and b / 0 == 1"), 0);
  EXPECT_EQ(constant("int(a * 1.5)"), 4);
}

TEST(ExpressionFolding, LeavesOneSideOfAChoiceThatIsKnown) {
  const Code all = code_of("(a == 3 ? b : b * b) + 1", {3, kUnknown});
  const Code expected = code_of("b + 1", {3, kUnknown});
  EXPECT_EQ(text_of(folded(all)), text_of(folded(expected)));
}

TEST(ExpressionFolding, WhatFailsStays) {
  const Code code = folded(code_of("b + 1 / (a - 3)", {3, kUnknown}));
  ExpressionFault fault;
  const std::int64_t values[] = {0, 5};
  EXPECT_FALSE(run_expression(code, values, {}, fault));
  EXPECT_STREQ(fault.what, "division by zero");
  EXPECT_EQ(fault.column, 7);
}

/// Texts over a to d in which each operator of the language occurs.
class Texts {
 public:
  explicit Texts(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }

  std::string any(int depth) {
    if (depth == 0) return below(2) == 0 ? std::string(1, "abcd"[below(4)]) : number();
    const auto one = [&] { return "(" + any(depth - 1) + ")"; };
    switch (below(8)) {
      case 0:
        return one() + " ? " + one() + " : " + one();
      case 1:
        return one() + (below(2) == 0 ? " and " : " or ") + one();
      case 2:
        return one() + " implies " + one();
      case 3:
        return one() + " <= " + one() + " < " + one();
      case 4:
        return one() + " in [" + one() + ", " + one() + "]";
      case 5:
        return (below(2) == 0 ? "ceil_div(" : "min(") + one() + ", " + one() + ")";
      case 6:
        return "int(" + one() + " * 1.5)";
      default:
        return one() + kSigns[below(5)] + one();
    }
  }

 private:
  static constexpr const char* kSigns[] = {" + ", " - ", " * ", " / ", " == "};

  std::string number() { return std::to_string(below(4)); }

  std::minstd_rand random_;
};

TEST(ExpressionFolding, AgreesWithTheCodeOnRandomTexts) {
  Texts texts(1);
  std::size_t shorter = 0, failed = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = texts.any(static_cast<int>(texts.below(5)));
    std::vector<std::int64_t> known(4), values(4);
    for (std::size_t name = 0; name < 4; ++name) {
      values[name] = static_cast<std::int64_t>(texts.below(4));
      known[name] = texts.below(2) == 0 ? values[name] : kUnknown;
    }
    const Code code = code_of(text, known), less = folded(code);
    ExpressionFault fault, fault_of_less;
    ASSERT_EQ(run_expression(less, values, {}, fault_of_less),
              run_expression(code, values, {}, fault))
        << text;
    ASSERT_EQ(fault_of_less.what, fault.what) << text;
    ASSERT_EQ(fault_of_less.column, fault.column) << text;
    ASSERT_LE(less.size(), code.size()) << text;
    shorter += less.size() < code.size();
    failed += fault.what != nullptr;
  }
  EXPECT_GT(shorter, 10000u);
  EXPECT_GT(failed, 500u);
}

}  // namespace
}  // namespace autotune
