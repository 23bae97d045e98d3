// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/python_translation.hpp"

#include <cmath>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Every letter is a parameter, size[i] is a size, and z of min and max has the values 3 to 7. None
/// is negative but x.
PythonOperand meaning(const std::string& name, std::int64_t index, bool is_whole) {
  if (name == "size" && index >= 0) return {"n" + std::to_string(index), 1};
  if (is_whole) return {index == 1 ? "7" : "3", 3, 7};
  if (name == "x") return {name};
  return {name.size() == 1 && index < 0 ? name : "", 1, 8};
}

std::string translated(std::string_view text) { return translate_python(text, meaning).text; }

std::string translation_refusal(std::string_view text) {
  try {
    return "accepted as " + translate_python(text, meaning).text;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(PythonTranslation, OperatorsKeepTheirMeaning) {
  EXPECT_EQ(translated("a and b or not c"), "a and b or not c");
  EXPECT_EQ(translated("a and (b or c)"), "a and (b or c)");
  EXPECT_EQ(translated("not (a == b)"), "not a == b");
  EXPECT_EQ(translated("a // b % c"), "a / b % c");
  EXPECT_EQ(translated("a - (b - c)"), "a - (b - c)");
  EXPECT_EQ(translated("(a*b)*c"), "a * b * c");
  EXPECT_EQ(translated("-a * b"), "-a * b");
  EXPECT_EQ(translated("-(a + b)"), "-(a + b)");
}

TEST(PythonTranslation, QuotientsRoundDownAlsoBelowZero) {
  EXPECT_EQ(translated("-(-a // b) <= 4"), "-floor(1.0 * (-a) / b) <= 4");
  EXPECT_EQ(translated("(a - 5) // 2"), "floor(1.0 * (a - 5) / 2)");
  EXPECT_EQ(translated("(a - 4) % 3"), "((a - 4) % 3 + 3) % 3");
  EXPECT_EQ(translated("x // 2 + x % b"), "floor(1.0 * x / 2) + (x % b + b) % b");
  EXPECT_EQ(translated("(a - 1) // 2 + (9 - a) % 3"), "(a - 1) / 2 + (9 - a) % 3")
      << "from 1 to 8, neither is negative";
  EXPECT_EQ(translated("min(a, 3) // max(z) * abs(x) // 2"), "min(a, 3) / 7 * abs(x) / 2");
  for (int a = -7; a <= 7; ++a) {
    for (const int b : {-3, -1, 2, 3}) {
      const auto value = [&](const std::string& operation) {
        const std::string text = format("({}) {} ({})", a, operation, b);
        return Expression::parse(translated(text)).evaluate(std::span<const std::int64_t>());
      };
      const int floor = static_cast<int>(std::floor(static_cast<double>(a) / b));
      EXPECT_EQ(value("//"), floor) << a << " // " << b;
      EXPECT_EQ(value("%"), a - floor * b) << a << " % " << b;
    }
  }
}

TEST(PythonTranslation, ChainsAreWrittenOut) {
  EXPECT_EQ(translated("32 <= a*b <= 1024"), "32 <= a * b and a * b <= 1024");
  EXPECT_EQ(translated("a == b < c or d"), "a == b and b < c or d");
  EXPECT_EQ(translated("not a < b < c"), "not (a < b and b < c)");
}

TEST(PythonTranslation, PowersAreProductsWhereTheExponentIsSmall) {
  EXPECT_EQ(translated("a**2 + 1"), "a * a + 1");
  EXPECT_EQ(translated("(a+b)**2"), "(a + b) * (a + b)");
  EXPECT_EQ(translated("-a**2"), "-(a * a)");
  EXPECT_EQ(translated("2**a"), "int(pow(2, a))");
}

TEST(PythonTranslation, WordsListsAndChoices) {
  EXPECT_EQ(translated("a == \"near\""), "a == 'near'");
  EXPECT_EQ(translated("\"a\"==\"b\""), "'a' == 'b'");
  EXPECT_EQ(translated("a in (1, 2) or b not in ['x', 'y']"), "a in [1, 2] or b not in ['x', 'y']");
  EXPECT_EQ(translated("a if b else c"), "b ? a : c");
  EXPECT_EQ(translated("True"), "1");
}

TEST(PythonTranslation, NamesAreGivenTheirMeaning) {
  EXPECT_EQ(translated("size[1] * max(z) + min(z) - max(a, b)"), "n1 * 7 + 3 - max(a, b)");
}

TEST(PythonTranslation, ExactDivisionIsNoted) {
  const PythonTranslation exact = translate_python("a % (b / c) == 0", meaning);
  EXPECT_EQ(exact.text, "a % (b / c) == 0");
  EXPECT_THAT(exact.notes, SizeIs(1));
  EXPECT_THAT(translate_python("a // b", meaning).notes, IsEmpty());
}

TEST(PythonTranslation, WhatHasNoCounterpartIsRefusedWithItsReason) {
  EXPECT_THAT(translation_refusal("check(a)"), HasSubstr("the function check"));
  EXPECT_THAT(translation_refusal("width * 2"), HasSubstr("width is not a parameter"));
  EXPECT_THAT(translation_refusal("a & b"), HasSubstr("column 3: \"&\" works on bits"));
  EXPECT_THAT(translation_refusal("lambda p: p"), HasSubstr("lambda"));
  EXPECT_THAT(translation_refusal("p[\"a\"] > 1"), HasSubstr("an index is not a number"));
  EXPECT_THAT(translation_refusal("a.b"), HasSubstr("attribute"));
  EXPECT_THAT(translation_refusal("__import__('os')"), HasSubstr("__import__"));
  EXPECT_THAT(translation_refusal("a +"), HasSubstr("ends early"));
  EXPECT_THAT(translation_refusal("a b"), HasSubstr("column 3: unexpected"));
  EXPECT_THAT(translation_refusal("a == 'x"), HasSubstr("no end"));
  EXPECT_THAT(translation_refusal(std::string(5000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(translation_refusal(std::string(5000, '-')), HasSubstr("nested too deeply"));
  std::string sum = "a", power = "a";
  for (int i = 0; i < 4000; ++i) sum += "+a";
  for (int i = 0; i < 20; ++i) power = "(" + power + ")**4";
  EXPECT_THAT(translation_refusal(sum), HasSubstr("too many operators"));
  EXPECT_THAT(translation_refusal(power), HasSubstr("too long"));
}

std::vector<std::int64_t> integers(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const PythonConstant& each : python_list(text)) {
    values.push_back(std::get<std::int64_t>(each));
  }
  return values;
}

std::string value_refusal(std::string_view text) {
  return thrown_by([&] { python_list(text); });
}

TEST(PythonValues, ListsRangesAndTheirSums) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(integers("[16, 32, -1]"), (Values{16, 32, -1}));
  EXPECT_EQ(integers("[1, 2] + list(range(32, 97, 32))"), (Values{1, 2, 32, 64, 96}));
  EXPECT_EQ(integers("range(3)"), (Values{0, 1, 2}));
  EXPECT_EQ(integers("range(4, 0, -2)"), (Values{4, 2}));
  EXPECT_EQ(integers("(8,)"), (Values{8}));
}

TEST(PythonValues, Comprehensions) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(integers("[2**i for i in range(0, 4)]"), (Values{1, 2, 4, 8}));
  EXPECT_EQ(integers("[i for i in range(1, 5) if i % 2 == 0]"), (Values{2, 4}));
  EXPECT_EQ(integers("list(32 * i for i in range(1, 3))"), (Values{32, 64}));
}

TEST(PythonValues, WordsAndRealNumbers) {
  EXPECT_EQ(python_list("[\"float\", 'half']")[1], PythonConstant("half"));
  EXPECT_EQ(python_list("[0.5, 3/2]")[1], PythonConstant(1.5));
  EXPECT_EQ(integers("[int(-1.5), int(2)]"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(python_list("[-7 // 2, -7 % 4]"),
            (std::vector<PythonConstant>{std::int64_t{-4}, std::int64_t{1}}));
}

TEST(PythonValues, WhatIsNotUnderstoodIsRefused) {
  EXPECT_THAT(value_refusal("3"), HasSubstr("it is not a list"));
  EXPECT_THAT(value_refusal("[x]"), HasSubstr("x is not a constant"));
  EXPECT_THAT(value_refusal("open('x')"), HasSubstr("the function open"));
  EXPECT_THAT(value_refusal("range(10**18)"), HasSubstr("over 65536 values"));
  EXPECT_THAT(value_refusal("[2**64]"), HasSubstr("exponent"));
  EXPECT_THAT(value_refusal("[2**62 * 4]"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(value_refusal("[int(1e300)]"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(value_refusal("range(0.5)"), HasSubstr("0.5 is not an integer"));
  EXPECT_THAT(value_refusal("range('a')"), HasSubstr("'a' is text, not a number"));
  EXPECT_THAT(value_refusal("[[1, 2] * 2]"), HasSubstr("lists support only"));
  EXPECT_THAT(value_refusal("[1 // 0]"), HasSubstr("division by zero"));
  EXPECT_THAT(value_refusal("range(1, 2, 0)"), HasSubstr("step"));
}

}  // namespace
}  // namespace autotune
