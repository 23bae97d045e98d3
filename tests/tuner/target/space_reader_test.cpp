// SPDX-License-Identifier: Apache-2.0
// Values that are real numbers, flags, words as text and types.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

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

class SpaceReaderTest : public testing::Test {
 protected:
  SpaceReaderTest() { folder_.write("scale.cu", "MUL mul; SUM sum; REAL real;\n"); }

  /// The manifest with the first `from` replaced.
  Target read(const std::string& from = "", const std::string& to = "") const {
    std::string text = kSpace;
    text.replace(text.find(from), from.size(), to);
    return load_manifest(folder_.write("scale.target.toml", text));
  }
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_THAT([&] { read(from, to); }, ThrowsMessage<Error>(HasSubstr(what)));
  }
  static Problem problem(const Target& target) { return problem_of(target, {{"N", 64}}, {}); }
  static std::string prelude(const Target& target, const std::string& configuration) {
    return source_unit(target, problem(target), parse_named_values(configuration), DeviceInfo{})
        .prelude;
  }

  ScratchFolder folder_;
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

TEST_F(SpaceReaderTest, ARangeMayEndAtAProblemsExpression) {
  const std::string flag = "parameters.FAST = [false, true]\n";
  const auto values = [&](const std::string& range) {
    const Target target = read(flag, flag + "parameters.X = " + range + "\n");
    return space_of(target, problem(target), DeviceInfo{}).size() / 20;
  };
  EXPECT_EQ(values("{ from = 1, to = 'N / 2', step = 1 }"), 32u);
  EXPECT_EQ(values("{ from = 1, to = 'N', factor = 2 }"), 7u);
  EXPECT_EQ(values("{ from = 128, to = 'N', factor = 2, when = 'ALPHA > 9' }"), 1u);
  const auto refuses = [&](const std::string& range, const std::string& why) {
    expect_error(flag, flag + "parameters.X = " + range + "\n", why);
  };
  refuses("{ from = 1, to = 'M', step = 1 }", "there is no name M");
  refuses("{ from = 1, to = 'FAST', step = 1 }", "this depends on a parameter: FAST");
  refuses("{ from = 0.5, to = 'N', step = 1 }",
          "only a range of integers can end at an expression");
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

}  // namespace
}  // namespace autotune
