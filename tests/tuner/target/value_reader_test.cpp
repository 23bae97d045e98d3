// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/value_reader.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<Value> listed(const std::string& list) {
  return listed_values(toml("BM = " + list)["BM"], "BM");
}
std::vector<Value> ranged(const std::string& table) {
  return ranged_values(toml("BM = { " + table + " }")["BM"]);
}
WordForm form(const std::string& table) {
  const Node node = toml("T = { " + table + " }")["T"];
  return form_of(node, listed_values(node["values"], "T"));
}

template <class Call>
void expect_value_error(const Call& call, const std::string& what) {
  EXPECT_THAT(call, ThrowsMessage<Error>(HasSubstr(what)));
}

TEST(ListedValues, OneRealNumberMakesAllReal) {
  EXPECT_THAT(listed("[4, 1, 2]"), ElementsAre(Value(4), Value(1), Value(2)));
  EXPECT_THAT(listed("[1, 0.5]"), ElementsAre(Value(1.0), Value(0.5)));
  EXPECT_THAT(listed("['a', 'b']"), ElementsAre(Value("a"), Value("b")));
  EXPECT_THAT(listed("[true, false]"), ElementsAre(Value(1), Value(0)));
}

TEST(ListedValues, AreNotRepeated) {
  expect_value_error([] { listed("[64, 64]"); }, "a.toml:1:11: 64 is listed twice");
  expect_value_error([] { listed("[1, 1.0]"); }, "1.0 is listed twice");
  expect_value_error([] { listed("[1, true]"); }, "1 is listed twice");
  expect_value_error([] { listed("[0.0, -0.0]"); }, "-0.0 is listed twice");
  expect_value_error([] { listed("['a', 'a']"); }, "a is listed twice");
}

TEST(ListedValues, AreNumbersAloneOrWordsAlone) {
  expect_value_error([] { listed("[64, 'x', 256]"); },
                     "BM has the integer 64 and the word x: use numbers only or words only");
  expect_value_error([] { listed("['f32', 64]"); }, "BM has the word f32 and the integer 64");
  expect_value_error([] { listed("[0.5, 'half']"); }, "the real number 0.5 and the word half");
  expect_value_error([] { listed("[]"); }, "has 0 items, expected 1 or more");
  expect_value_error([] { listed("[0.5, nan]"); }, "expected a finite number");
  expect_value_error([] { listed("[[64], 128]"); }, "expected a number or a word, got a list");
}

TEST(ListedValues, MayBe1000Words) {
  const auto words = [](int count) {
    std::string list = "[";
    for (int i = 0; i < count; ++i) list += "'w" + std::to_string(i) + "', ";
    return listed(list + "]");
  };
  EXPECT_THAT(words(1000), SizeIs(1000));
  expect_value_error([&] { words(1001); }, "BM has more than 1000 words: number them instead");
}

TEST(ListedTexts, AreAnyTextsWithAWordForEach) {
  WordTexts texts;
  const auto listed = [&](const std::string& list) {
    return listed_texts(toml("T = " + list)["T"], "T", texts);
  };
  EXPECT_THAT(listed("['float', 'unsigned int', 'cub::LOAD', '1.5f', '2']"),
              ElementsAre(Value("float"), Value("unsigned_int"), Value("cub__LOAD"), Value("_1_5f"),
                          Value("_2")));
  EXPECT_EQ(texts.at("unsigned_int"), "unsigned int");
  EXPECT_FALSE(texts.contains("float"));
  expect_value_error([&] { listed("['int*', 'int*']"); }, "int* is listed twice");
  expect_value_error([&] { listed("['int*', 'int&']"); },
                     "int& has the same name as another value, int*");
  expect_value_error([&] { listed("['a_b', 'a b']"); }, "a b has the same name as another");
  expect_value_error([&] { listed("[1]"); }, "only words can be text");
  expect_value_error([&] { listed("[' ']"); }, "one line that is not empty");
  expect_value_error([&] { listed("[\"a\\nb\"]"); }, "one line that is not empty");
}

TEST(RangedValues, AreRealWhereABoundOrTheChangeIs) {
  EXPECT_THAT(ranged("from = 0.1, to = 0.5, step = 0.1"),
              ElementsAre(Value(0.1), Value(0.2), Value(0.3), Value(0.4), Value(0.5)));
  EXPECT_THAT(ranged("from = 1, to = 2, step = 0.5"),
              ElementsAre(Value(1.0), Value(1.5), Value(2.0)));
  EXPECT_THAT(ranged("from = 0.5, to = 4, factor = 2"),
              ElementsAre(Value(0.5), Value(1.0), Value(2.0), Value(4.0)));
  EXPECT_THAT(ranged("from = 0.5, to = 0.5, step = 0.1"), ElementsAre(Value(0.5)));
  expect_value_error([] { ranged("from = 0.0, to = 1, step = 0.0"); }, "the values do not rise");
  expect_value_error([] { ranged("from = 0.0, to = 1, factor = 2"); }, "values above 0");
  expect_value_error([] { ranged("from = 1.5, to = 1, step = 1"); }, "1.5 to 1");
  expect_value_error([] { ranged("from = 1.0, to = 1.00000000000001, step = 1e-16"); },
                     "the values do not rise");
  expect_value_error([] { ranged("from = 0.0, to = 1, step = 1e-9"); }, "more than 65535 values");
  expect_value_error([] { ranged("from = 0.0, to = inf, step = 1"); }, "expected a finite number");
  expect_value_error([] { ranged("from = 0.0, to = 1, step = 'N'"); }, "expected a number");
}

TEST(RangedValues, RiseByAStepOrAFactorUpToTheLast) {
  EXPECT_THAT(ranged("from = 1, to = 8, factor = 2"),
              ElementsAre(Value(1), Value(2), Value(4), Value(8)));
  EXPECT_THAT(ranged("from = -3, to = 4, step = 3"), ElementsAre(Value(-3), Value(0), Value(3)));
  EXPECT_THAT(ranged("from = 5, to = 5, step = 1"), ElementsAre(Value(5)));
}

TEST(RangedValues, EndBeforeTheLargestIntegerOverflows) {
  EXPECT_THAT(ranged("from = 1, to = 9223372036854775807, factor = 4294967296"),
              ElementsAre(Value(1), Value(std::int64_t{1} << 32)));
  EXPECT_THAT(ranged("from = 9223372036854775806, to = 9223372036854775807, step = 9"), SizeIs(1));
}

TEST(RangedValues, AreAtMost65535) {
  EXPECT_THAT(ranged("from = 1, to = 65535, step = 1"), SizeIs(65535));
  expect_value_error([] { ranged("from = 0, to = 65535, step = 1"); }, "more than 65535 values");
}

TEST(RangedValues, ThatDoNotRiseAreRefused) {
  expect_value_error([] { ranged("from = 1, to = 8"); }, "give \"factor\" or \"step\"");
  expect_value_error([] { ranged("from = 1, to = 8, step = 1, factor = 2"); },
                     "give \"factor\" or");
  expect_value_error([] { ranged("from = 1, to = 8, step = 0"); }, "the values do not rise");
  expect_value_error([] { ranged("from = 1, to = 8, factor = 1"); }, "the values do not rise");
  expect_value_error([] { ranged("from = 0, to = 8, factor = 2"); },
                     "a factor needs values of 1 or");
  expect_value_error([] { ranged("from = 8, to = 1, step = 1"); }, "8 to 1 goes down");
  expect_value_error([] { ranged("to = 8, step = 1"); }, "\"from\" is missing");
}

TEST(WordForm, IsTextOrTypeForWordsAlone) {
  EXPECT_EQ(form("values = ['f32', 'i64']"), WordForm::number);
  EXPECT_EQ(form("values = ['float', 'double'], as = 'text'"), WordForm::text);
  EXPECT_EQ(form("values = ['f32', 'i64'], as = 'type'"), WordForm::type);
  expect_value_error([] { form("values = ['a'], as = 'word'"); }, "expected \"text\" or \"type\"");
  expect_value_error([] { form("values = ['f32', 'double'], as = 'type'"); }, "the types are f32");
  expect_value_error([] { form("values = [1, 2], as = 'text'"); },
                     "only words can be text or types");
}

}  // namespace
}  // namespace autotune
