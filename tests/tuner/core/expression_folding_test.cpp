// SPDX-License-Identifier: Apache-2.0
// Folded code does what the code does, for all values of what is not known, faults included.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tuner/core/expression_program.hpp"

namespace autotune {
namespace {

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

TEST(ExpressionFolding, AKnownRightOperandStandsInItsInstruction) {
  const Code code = folded(code_of("b * 4 == 8 ? 10 - b : 0", {3, kUnknown}));
  ASSERT_EQ(code[1].op, Op::multiply);
  EXPECT_TRUE(code[1].immediate);
  EXPECT_EQ(code[2].op, Op::equal);
  EXPECT_EQ(code[2].operand, 8);
  ExpressionFault fault;
  EXPECT_EQ(run_expression(code, std::vector<std::int64_t>{0, 2}, {}, fault), 8);
  EXPECT_EQ(run_expression(code, std::vector<std::int64_t>{0, 3}, {}, fault), 0);
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
