// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/problem.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"

namespace autotune {
namespace {

const std::vector<std::string> kGemm = {"M", "N", "K"};

std::vector<std::string> sizes(std::string_view text,
                               const std::vector<std::string>& names = {"N"}) {
  std::vector<std::string> texts;
  for (const NamedValues& each : parse_sizes(text, names)) texts.push_back(to_text(each));
  return texts;
}

TEST(Sizes, OneNumberIsEverySize) {
  EXPECT_THAT(sizes("512", kGemm), ElementsAre("M=512 N=512 K=512"));
}

TEST(Sizes, ARangeHasTheMultiplesOfItsFirst) {
  EXPECT_THAT(sizes("128..1024"),
              ElementsAre("N=128", "N=256", "N=384", "N=512", "N=640", "N=768", "N=896", "N=1024"));
  EXPECT_THAT(sizes("100..350"), ElementsAre("N=100", "N=200", "N=300"));
  EXPECT_THAT(sizes("7..7"), ElementsAre("N=7"));
}

TEST(Sizes, ARangeMayHaveAStepOrAFactor) {
  EXPECT_THAT(sizes("128..256:64"), ElementsAre("N=128", "N=192", "N=256"));
  EXPECT_THAT(sizes("128..1024*2"), ElementsAre("N=128", "N=256", "N=512", "N=1024"));
  EXPECT_THAT(sizes("1073741824..2147483647*2"), ElementsAre("N=1073741824"));
}

TEST(Sizes, SizesMayDifferByOrderOrByName) {
  EXPECT_THAT(sizes("1037x1031x1055", kGemm), ElementsAre("M=1037 N=1031 K=1055"));
  EXPECT_THAT(sizes("K=3,M=1,N=2", kGemm), ElementsAre("M=1 N=2 K=3"));
  EXPECT_THAT(sizes("M=1,N=2,K=3,M=4,N=5,K=6", kGemm), ElementsAre("M=1 N=2 K=3", "M=4 N=5 K=6"));
  EXPECT_THAT(sizes("8,M=1,N=2,K=3,9", kGemm),
              ElementsAre("M=8 N=8 K=8", "M=1 N=2 K=3", "M=9 N=9 K=9"));
}

TEST(Sizes, NamedRangesGiveEveryCombination) {
  EXPECT_THAT(sizes("M=1..4*2,N=9,K=8", kGemm),
              ElementsAre("M=1 N=9 K=8", "M=2 N=9 K=8", "M=4 N=9 K=8"));
  EXPECT_THAT(sizes("K=1..2,M=128..256:128,N=5", kGemm),
              ElementsAre("M=128 N=5 K=1", "M=128 N=5 K=2", "M=256 N=5 K=1", "M=256 N=5 K=2"));
  EXPECT_THAT(
      sizes("3,M=1..2,N=1,K=1,M=2..3:1,N=1,K=1,4x5x6", kGemm),
      ElementsAre("M=3 N=3 K=3", "M=1 N=1 K=1", "M=2 N=1 K=1", "M=3 N=1 K=1", "M=4 N=5 K=6"));
  EXPECT_EQ(sizes("M=1..4096*2,N=4096,K=4096", kGemm).size(), 13u);
  EXPECT_EQ(sizes("M=1..64,N=512,K=512", kGemm).size(), 64u);
}

TEST(Sizes, DuplicatesAreDroppedAndSpacesDoNotMatter) {
  EXPECT_THAT(sizes(" 256 , 128..256 "), ElementsAre("N=256", "N=128"));
}

TEST(Sizes, TheLastMayBeLeftOut) {
  const std::vector<std::string> names = {"M", "N", "batch"};
  const auto with_default = [&](std::string_view text) {
    std::vector<std::string> texts;
    for (const NamedValues& each : parse_sizes(text, names, "--sizes", 2)) {
      texts.push_back(to_text(each));
    }
    return texts;
  };
  EXPECT_THAT(with_default("512"), ElementsAre("M=512 N=512"));
  EXPECT_THAT(with_default("4x5,4x5x6"), ElementsAre("M=4 N=5", "M=4 N=5 batch=6"));
  EXPECT_THAT(with_default("M=1,N=2,M=3,N=4,batch=1..2"),
              ElementsAre("M=1 N=2", "M=3 N=4 batch=1", "M=3 N=4 batch=2"));
  const auto error = [&](std::string_view text, const char* what) {
    EXPECT_REFUSAL(UsageError, with_default(text), what);
  };
  error("1x2x3x4", "gives 4 sizes (the target has 2 to 3: M x N x batch)");
  error("M=1,batch=2", "gives no N (give each of M, N)");
  error("M=1,batch=2,M=3,N=1", "gives M again before N");
}

TEST(Sizes, FreeOnesFollowTheOthersByName) {
  const auto with_free = [&](std::string_view text) {
    std::vector<std::string> texts;
    for (const NamedValues& each :
         parse_sizes(text, {"M", "K", "batch"}, "--size", 2, {"lda", "stride"})) {
      texts.push_back(to_text(each));
    }
    return texts;
  };
  EXPECT_THAT(with_free("stride=0,M=1,lda=9,K=2"), ElementsAre("M=1 K=2 lda=9 stride=0"));
  EXPECT_THAT(
      with_free("8,lda=9,4x5x6,stride=9223372036854775807,7"),
      ElementsAre("M=8 K=8 lda=9", "M=4 K=5 batch=6 stride=9223372036854775807", "M=7 K=7"));
  EXPECT_THAT(with_free("8..16,lda=16..24:8"), ElementsAre("M=8 K=8 lda=16", "M=8 K=8 lda=24",
                                                           "M=16 K=16 lda=16", "M=16 K=16 lda=24"));
  EXPECT_THAT(with_free("8,stride=0..2:1"),
              ElementsAre("M=8 K=8 stride=0", "M=8 K=8 stride=1", "M=8 K=8 stride=2"));
  EXPECT_THAT(with_free("8,lda=9,M=1,K=2,lda=3"), ElementsAre("M=8 K=8 lda=9", "M=1 K=2 lda=3"));
  const auto error = [&](std::string_view text, const char* what) {
    EXPECT_REFUSAL(UsageError, with_free(text), what);
  };
  error("8,lda=-1", "has -1 (a free size is 0 or more; leave it out for its default)");
  error("8,lda=9,lda=10", "gives lda again (give each of lda, stride once)");
  error("lda=9,8", "\"lda=9\" gives no M");
  error("8,ldx=9", "names a size \"ldx\" that the target has not");
  error("8,stride=0..8", "starts at 0 (give a step, as in 0..8:1)");
  error("4x5x6x7", "gives 4 sizes (the target has 2 to 3: M x K x batch)");
  error("8,stride=9223372036854775808", "is too large");
}

Target two_sizes() {
  Target target;
  target.sizes = {"M", "N"};
  return target;
}

TEST(EdgeProblem, IsOnePast256OrPastASmallerSize) {
  const Problem problem{{{"M", 4096}, {"N", 17}, {"batch", 3}, {"dtype", "f32"}}};
  EXPECT_EQ(edge_problem(two_sizes(), problem)->text(), "M=257 N=18 batch=3 dtype=f32");
}

TEST(EdgeProblem, HasNoEqualSizesUnlessNothingElseIsTaken) {
  Target target = two_sizes();
  const Problem problem{{{"M", 512}, {"N", 512}}};
  EXPECT_EQ(edge_problem(target, problem)->text(), "M=257 N=259");
  EXPECT_EQ(edge_problems(target, problem, {}).longer.front().text(), "M=257 N=257")
      << "for a configuration with a constraint";
  target.rules = {{Expression::parse("M == N"), "a square"}};
  EXPECT_EQ(edge_problems(target, problem, {}).usual.front().text(), "M=257 N=257");
  target.size_rules = {{.fixed = 512}, {.fixed = 512}};
  EXPECT_EQ(edge_problem(target, problem)->text(), "M=512 N=512");
}

TEST(EdgeProblem, ThereIsNoneWhereTheRightAnswerIsAFile) {
  Target target = two_sizes();
  target.reference.kind = ReferenceSpec::Kind::file;
  EXPECT_FALSE(edge_problem(target, {{{"M", 64}, {"N", 64}}}));
}

TEST(EdgeProblem, KeepsToWhatTheTargetSaysOfItsSizes) {
  Target target = two_sizes();
  target.size_rules = {{.multiple = 32, .least = 64}, {.fixed = 17}};
  EXPECT_EQ(edge_problem(target, {{{"M", 4096}, {"N", 17}}})->text(), "M=288 N=17");
  EXPECT_EQ(edge_problem(target, {{{"M", 64}, {"N", 17}}})->text(), "M=96 N=17");
}

TEST(EdgeProblem, ASizeWithADefaultStaysWhereARuleDemandsIt) {
  Target target = two_sizes();
  target.size_rules = {{}, {.if_absent = 1}};
  const Problem problem{{{"M", 64}, {"N", 1}}};
  EXPECT_EQ(edge_problems(target, problem, {}).usual.front().text(), "M=65 N=2");
  target.rules = {{Expression::parse("N == 1"), "one N"}};
  EXPECT_EQ(edge_problems(target, problem, {}).usual.front().text(), "M=65 N=1");
  target.rules = {{Expression::parse("M == 64"), "64 of M"}};
  EXPECT_EQ(edge_problems(target, problem, {}), EdgeProblems{});
}

TEST(EdgeProblem, OfTheLongerOnesEachHasOneSizePast1024AfterThatOfEqualSizes) {
  const auto texts = [](const Target& target, const Problem& problem) {
    std::vector<std::string> all;
    for (const Problem& each : edge_problems(target, problem, {}).longer) {
      all.push_back(each.text());
    }
    return all;
  };
  Target target = two_sizes();
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 600}}}),
              testing::ElementsAre("M=257 N=257", "M=1025 N=257", "M=257 N=601"));
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 17}}}), testing::ElementsAre("M=1025 N=18"));
  target.size_rules = {{.multiple = 32}, {.fixed = 600}};
  EXPECT_THAT(texts(target, {{{"M", 4096}, {"N", 600}}}), testing::ElementsAre("M=1056 N=600"));
}

/// DEPTH means something where LOADER is async.
Target loader() {
  Target target;
  target.name = "loader";
  target.sizes = {"N"};
  target.parameters = {{"LOADER", {"plain", "async"}, {}},
                       {"DEPTH", {1, 2, 4}, Expression::parse("LOADER == 'async'")}};
  target.default_configuration = {{"LOADER", "plain"}, {"DEPTH", 1}};
  return target;
}

std::vector<std::string> configurations(const Target& target) {
  const ParameterSpace space = space_of(target, problem_of(target, {{"N", 1}}, {}), {});
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < space.size(); ++i) texts.push_back(to_text(space.at(i)));
  return texts;
}

void expect_error(const NamedValues& fixed, const std::string& what) {
  EXPECT_REFUSAL(UsageError, with_fixed(loader(), fixed), what);
}

TEST(ProblemText, LeavesOutTheSettingsThatAreAtTheirDefault) {
  Target target = loader();
  target.settings = {{"dtype", {"f32", "f64"}}, {"batch", {1, 2}}};
  const auto text = [&](const NamedValues& chosen) {
    return problem_text(target, problem_of(target, {{"N", 1}}, chosen));
  };
  EXPECT_EQ(text({}), "N=1");
  EXPECT_EQ(text({{"batch", 2}, {"dtype", "f32"}}), "N=1 batch=2");
  EXPECT_EQ(text({{"batch", 2}, {"dtype", "f64"}}), "N=1 dtype=f64 batch=2");
  // Of a problem that was stored before the target had `dtype`, and had another setting.
  EXPECT_EQ(problem_text(target, {parse_named_values("N=1 batch=1 order=fixed")}),
            "N=1 order=fixed");
}

TEST(ConfigurationText, LeavesOutWhatMeansNothing) {
  const Target target = loader();
  const Problem problem = problem_of(target, {{"N", 1}}, {});
  const auto text = [&](const char* stored) {
    return configuration_text(target, problem, stored, {});
  };
  EXPECT_EQ(text("LOADER=plain DEPTH=1"), "LOADER=plain");
  EXPECT_EQ(text("LOADER=async DEPTH=2"), "LOADER=async DEPTH=2");
  for (const char* const other : {"DEPTH=2", "of another tool", ""}) EXPECT_EQ(text(other), other);
}

TEST(ConfigurationText, AWhenMayNameDefinesElementSizesAndTheDevice) {
  Target target = loader();
  target.settings = {{"dtype", {"f32", "f64"}}};
  target.defines = {{"ASYNC", Expression::parse("LOADER == 'async'")}};
  target.parameters[1].when =
      Expression::parse("ASYNC && dtype_bytes == 4 && device.max_threads > 512");
  DeviceInfo device;
  device.max_threads_per_block = 1024;
  const auto text = [&](const char* dtype, const DeviceInfo& on) {
    const Problem problem = problem_of(target, {{"N", 1}}, {{"dtype", dtype}});
    return configuration_text(target, problem, "LOADER=async DEPTH=1", on);
  };
  EXPECT_EQ(text("f32", device), "LOADER=async DEPTH=1");
  EXPECT_EQ(text("f64", device), "LOADER=async");
  device.max_threads_per_block = 256;
  EXPECT_EQ(text("f32", device), "LOADER=async");
}

TEST(FixedParameters, LeaveTheConfigurationsThatHaveTheValue) {
  EXPECT_EQ(configurations(loader()).size(), 4u);
  EXPECT_THAT(configurations(with_fixed(loader(), {{"DEPTH", 2}})),
              ElementsAre("LOADER=async DEPTH=2"));
  EXPECT_THAT(configurations(with_fixed(loader(), {{"LOADER", "plain"}})),
              ElementsAre("LOADER=plain DEPTH=1"));
}

TEST(FixedParameters, OutOfMeaningDoNotCount) {
  EXPECT_THAT(configurations(with_fixed(loader(), {{"DEPTH", 1}})),
              ElementsAre("LOADER=async DEPTH=1"));
}

TEST(FixedParameters, ThatNothingUsesAreNamed) {
  Target both = loader();
  both.parameters[0].values = {"async", "plain"};
  const Target target = with_fixed(both, {{"LOADER", "plain"}, {"DEPTH", 1}});
  EXPECT_THAT(space_of(target, problem_of(target, {{"N", 1}}, {}), {}).why_empty(),
              HasSubstr("\"DEPTH is used\""));
}

TEST(FixedParameters, ChangeNeitherMacrosNorWordNumbers) {
  const Target target = with_fixed(loader(), {{"LOADER", "async"}});
  EXPECT_EQ(target.parameters[0].values.size(), 2u);
}

TEST(FixedParameters, UnknownNamesAndValuesAreAnsweredWithNearOnes) {
  expect_error({{"DEPTHS", 2}}, "loader has no parameter DEPTHS (did you mean DEPTH?");
  expect_error({{"LOADER", "asynk"}}, "LOADER=asynk is not offered (did you mean async?");
  expect_error({{"DEPTH", 3}}, "DEPTH=3 is not offered (there are: 1, 2, 4)");
  expect_error({{"DEPTH", 2}, {"DEPTH", 4}}, "DEPTH is fixed twice");
}

TEST(Sizes, ThatAreLeftOutHaveTheirDefault) {
  Target target;
  target.name = "t";
  target.sizes = {"M", "batch", "group"};
  EXPECT_EQ(needed_sizes(target), 3u);
  target.size_rules = {{}, {.if_absent = 1}, {.multiple = 2, .if_absent = 4}};
  EXPECT_EQ(needed_sizes(target), 1u);
  const auto all = [&](std::vector<std::int64_t> given) { return all_sizes(target, given); };
  EXPECT_THAT(all({7}), ElementsAre(7, 1, 4));
  EXPECT_THAT(all({7, 5}), ElementsAre(7, 5, 4));
  EXPECT_THAT(all({7, 5, 6, 8}), ElementsAre(7, 5, 6, 8)) << "too many stay too many";
  EXPECT_THAT(all({}), testing::IsEmpty()) << "too few stay too few";
  EXPECT_EQ(problem_of(target, {{"M", 7}, {"group", 6}}, {}).text(), "M=7 batch=1 group=6");
  EXPECT_REFUSAL(UsageError, problem_of(target, {{"batch", 1}}, {}), "size M is missing");
}

TEST(Settings, AreAlikeInEveryCombination) {
  Target target;
  target.sizes = {"N"};
  target.settings = {{.name = "dtype", .values = {"f32", "f16", "bf16"}, .alike = {"f16", "bf16"}},
                     {.name = "layout", .values = {"NN", "NT"}},
                     {.name = "epilogue", .values = {"none", "bias"}, .alike = {"none", "bias"}}};
  const auto alike = [&](std::string_view settings) {
    std::vector<std::string> texts;
    for (const NamedValues& each : alike_settings(target, parse_named_values(settings))) {
      texts.push_back(to_text(each));
    }
    return texts;
  };
  EXPECT_THAT(alike("dtype=f16 layout=NT epilogue=bias"),
              UnorderedElementsAre("dtype=bf16 layout=NT epilogue=bias",
                                   "dtype=f16 layout=NT epilogue=none",
                                   "dtype=bf16 layout=NT epilogue=none"));
  EXPECT_THAT(alike("dtype=f32 layout=NN epilogue=none"),
              ElementsAre("dtype=f32 layout=NN epilogue=bias"));
}

}  // namespace
}  // namespace autotune
