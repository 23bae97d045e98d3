// SPDX-License-Identifier: Apache-2.0
// Values that are real numbers, flags, words as text and types.
#include "tests/tuner/target/manifest_tree.hpp"
#include "tests/tuner/target/one_manifest.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/target/value_reader.hpp"

namespace autotune {
namespace {

constexpr const char* kSpace = R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
settings.real = { values = ["f32", "f64"], as = "type" }
parameters.ALPHA = [0.5, 1, -2.5]
parameters.FAST = [false, true]
parameters.MUL = { values = ["float", "double"], as = "text" }
parameters.SUM = { values = ["f32", "i64"], as = "type" }
default = { ALPHA = 1, FAST = true }
constraints = "ALPHA * 4 <= 2 or not FAST"
arguments.x = { type = "real", length = "N" }
arguments.y = { type = "real", length = "N", role = "output", tolerance = 2 }
workspace.sums = { type = "SUM", length = "N * SUM_bytes" }
kernels.scale = { grid = "N", block = 1, arguments = ["x", "y", "sums", { type = "f32", value = "ALPHA" }, { type = "SUM", value = "N" }] }
reference.kernels.plain = { grid = 1, block = 1, arguments = ["x", "y"] }
)toml";

class SpaceReaderTest : public OneManifest {
 protected:
  SpaceReaderTest() : OneManifest("scale", kSpace, "MUL mul; SUM sum; REAL real;\n") {}
  static Problem problem(const Target& target) { return problem_of(target, {{"N", 64}}, {}); }
  static std::string prelude(const Target& target, const std::string& configuration) {
    return source_unit(target, problem(target), parse_named_values(configuration), DeviceInfo{})
        .prelude;
  }
};

TEST_F(SpaceReaderTest, DefinitionsAreCountedBeforeTheyAreParsed) {
  const auto block = [](const std::string& key, int count) {
    std::string text = key + " = \"\"\"\n";
    for (int i = 0; i < count; ++i) text += key + std::to_string(i) + " = unknown\n";
    return text + "\"\"\"\n";
  };
  expect_error(
      "constraints =", block("let", 2001) + "constraints =", "has more than 2000 statements");
  expect_error("constraints =", block("let", 1000) + block("defines", 1001) + "constraints =",
               "there are more than 2000 definitions");
}

TEST_F(SpaceReaderTest, RealNumbersAndFlagsAreValuesThatReadBack) {
  const Target target = read();
  EXPECT_EQ(to_text(target.default_configuration), "ALPHA=1.0 FAST=1 MUL=float SUM=f32");
  EXPECT_EQ(parse_named_values(to_text(target.default_configuration)),
            target.default_configuration);
  const ParameterSpace space = space_of(target, problem(target), DeviceInfo{});
  EXPECT_EQ(space.size(), (3 + 2) * 4u);
  EXPECT_TRUE(space.find(parse_named_values("ALPHA=-2.5 FAST=1 MUL=double SUM=i64")));
  EXPECT_FALSE(space.find(parse_named_values("ALPHA=1.0 FAST=1 MUL=double SUM=i64")));
}

TEST_F(SpaceReaderTest, MacrosAreNumbersWordsAndTypes) {
  const std::string text = prelude(read(), "ALPHA=-2.5 FAST=1 MUL=double SUM=i64");
  EXPECT_EQ(text,
            "#define REAL float\n#define ALPHA (-2.5)\n#define FAST 1\n#define MUL double\n"
            "#define SUM long long\n");
}

TEST_F(SpaceReaderTest, AParameterIsFixedAsAPersonWritesIt) {
  const Target target = with_fixed(read(), {{"ALPHA", 1}, {"FAST", "false"}});
  const ParameterSpace space = space_of(target, problem(target), DeviceInfo{});
  ASSERT_EQ(space.size(), 4u);
  EXPECT_THAT(to_text(space.at(0)), HasSubstr("ALPHA=1.0 FAST=0"));
}

TEST_F(SpaceReaderTest, WorkspaceAndTypedValuesHaveTheTypeOfAParameter) {
  const Target target = read();
  const auto plan = [&](const char* configuration) {
    return launch_plan(target, problem(target), parse_named_values(configuration), DeviceInfo{});
  };
  const LaunchPlan narrow = plan("ALPHA=0.5 FAST=1 MUL=float SUM=f32");
  const LaunchPlan wide = plan("ALPHA=0.5 FAST=1 MUL=float SUM=i64");
  EXPECT_EQ(narrow.workspace[0].type, ElementType::f32);
  EXPECT_EQ(narrow.workspace[0].length, 64 * 4);
  EXPECT_EQ(wide.workspace[0].type, ElementType::i64);
  EXPECT_EQ(wide.workspace[0].length, 64 * 8);
  EXPECT_EQ(narrow.launches[0].arguments[3], Argument(Scalar{ElementType::f32, 0, 0.5}));
  EXPECT_EQ(narrow.launches[0].arguments[4], Argument(Scalar{ElementType::f32, 0, 64}));
  EXPECT_EQ(wide.launches[0].arguments[4], Argument(Scalar{ElementType::i64, 64, 0}));
}

TEST_F(SpaceReaderTest, WhatMakesNoSenseIsRefused) {
  expect_error("length = \"N\" }", "length = \"ALPHA\" }", "this depends on a parameter: ALPHA");
  expect_error("type = \"real\"", "type = \"SUM\"",
               "SUM is a parameter, and this has one type in all configurations: use a setting");
  expect_error("type = \"SUM\", l", "type = \"MUL\", l",
               "parameter MUL can be float: float is not an element type");
  expect_error("grid = \"N\"", "grid = \"ALPHA\"", "it must be an integer");
}

TEST_F(SpaceReaderTest, ResultsHangOnHowWordsReachTheSource) {
  const std::string before = read().fingerprint;
  EXPECT_NE(read("as = \"text\"", "when = \"FAST\"").fingerprint, before);
  EXPECT_EQ(read("[0.5, 1, -2.5]", "[0.5, 1]").fingerprint, before);
}

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

// The default configuration of a target.

/// The default configuration of a manifest of parameters and families alone.
std::string default_of(const std::string& text) {
  Reading reading(toml(text), {});
  Target target;
  read_parameters(reading, target);
  read_default(reading, target);
  std::string all = to_text(target.default_configuration);
  for (const Configuration& each : target.other_defaults) all += "; " + to_text(each);
  return all;
}

void expect_default_error(const std::string& text, const std::string& what) {
  EXPECT_REFUSAL(Error, default_of(text), what);
}

constexpr const char* kFamilies = R"(
parameters.SPLIT = [1, 2]
parts.tiles = { parameters.BM = [32, 64], default.BM = 64 }
families.plain.parameters.BM = [16, 128]
families.plain.parameters.VEC = [4, 8]
families.fast.parts = ["tiles"]
families.fast.parameters.STAGES = [2, 3]
)";

TEST(DefaultReader, AParameterTakesItsFirstValueUnlessAnotherIsNamed) {
  EXPECT_EQ(default_of("parameters.A = [4, 2]\nparameters.B = [8, 16]\ndefault.B = 16"),
            "A=4 B=16");
}

TEST(DefaultReader, TheFirstFamilyIsTheDefaultWithItsOwnFirstValues) {
  EXPECT_EQ(default_of(kFamilies), "FAMILY=plain SPLIT=1 BM=16 VEC=4 STAGES=2");
}

TEST(DefaultReader, ThePartsOfTheChosenFamilyHaveDefaultsToo) {
  EXPECT_EQ(default_of(kFamilies + std::string("families.fast.default.STAGES = 3\n"
                                               "default = { FAMILY = 'fast', SPLIT = 2 }")),
            "FAMILY=fast SPLIT=2 BM=64 VEC=4 STAGES=3");
}

TEST(DefaultReader, AListOfFamiliesGivesADefaultOfEach) {
  EXPECT_EQ(default_of(kFamilies + std::string("families.fast.default.STAGES = 3\n"
                                               "default = { FAMILY = ['fast', 'plain'] }")),
            "FAMILY=fast SPLIT=1 BM=64 VEC=4 STAGES=3; FAMILY=plain SPLIT=1 BM=16 VEC=4 STAGES=2");
  expect_default_error(kFamilies + std::string("default = { FAMILY = ['fast', 'slow'] }"),
                       "slow is not a value of the parameter");
  expect_default_error(kFamilies + std::string("default = { FAMILY = [] }"), "expected");
}

TEST(DefaultReader, WhatIsNotAParameterOrNotItsValueIsRefused) {
  expect_default_error("parameters.BLOCK = [64]\ndefault.BLOC = 64",
                       "a.toml:2:16: there is no such parameter (did you mean BLOCK?)");
  expect_default_error("parameters.BLOCK = [64]\ndefault.BLOCK = 100",
                       "100 is not a value of the parameter");
  expect_default_error("parameters.BLOCK = [64]\ndefault = 64", "expected a table, got an integer");
  expect_default_error(kFamilies + std::string("default.FAMILY = 'slow'"),
                       "slow is not a value of the");
}

TEST(DefaultReader, AParameterOfAFamilyHasItsDefaultThere) {
  expect_default_error(kFamilies + std::string("default.STAGES = 3"),
                       "STAGES belongs to the family fast: set it in the default of that family");
  expect_default_error(kFamilies + std::string("families.plain.default.STAGES = 3"),
                       "STAGES belongs to the family fast");
}

}  // namespace
}  // namespace autotune
