// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"
#include "tests/support/matchers.hpp"

#include "tests/tuner/replay/small_space.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::kT4;
using testing::written;

db::TrialRow row(const std::string& configuration, double ns, const std::string& stage = "search") {
  db::TrialRow row;
  row.configuration = configuration;
  row.stage = stage;
  row.median_ns = ns;
  row.samples = 3;
  row.verified = true;
  row.created_at = "2026-11-22T14:34:21.102791Z";
  return row;
}

TEST(RecordedTrials, AConfigurationHasItsLatestResult) {
  const RecordedResults recorded = recorded_trials(
      {row("B=64 M=near", 2000), row("B=32 M=near", 4000), row("B=64 M=near", 1000)});
  ASSERT_EQ(recorded.results.size(), 2u);
  EXPECT_THAT(recorded.results[0].values, ElementsAre(32, "near"));
  EXPECT_DOUBLE_EQ(*recorded.results[1].seconds, 1e-6);
  EXPECT_EQ(recorded.results[1].samples, 3);
  ASSERT_EQ(recorded.parameters.size(), 2u);
  EXPECT_EQ(recorded.parameters[0].name, "B");
  EXPECT_THAT(recorded.parameters[0].values, ElementsAre(32, 64));
}

TEST(RecordedTrials, TimesOfDayAreThoseOfPython) {
  EXPECT_EQ(recorded_trials({row("B=1", 1)}).results[0].timestamp,
            "2026-11-22 14:34:21.102791+00:00");
}

TEST(RecordedTrials, OtherStagesAndEarlierParametersAreLeftOut) {
  const RecordedResults recorded = recorded_trials(
      {row("B=1 OLD=2", 10), row("B=1", 10), row("B=2", 10, "playoff"), row("B=4", 10)});
  EXPECT_EQ(recorded.results.size(), 2u);
  EXPECT_THAT(recorded.parameters[0].values, ElementsAre(1, 4));
  EXPECT_THAT(recorded_trials({}).results, IsEmpty());
  EXPECT_THAT(recorded_trials({row("B=1", 10, "audit")}).parameters, IsEmpty());
}

TEST(RecordedTrials, AFailureHasNoTime) {
  db::TrialRow failed;
  failed.configuration = "B=1";
  failed.outcome = "compile_error";
  const RecordedResults recorded = recorded_trials({failed});
  EXPECT_EQ(recorded.results[0].outcome, Outcome::compile_error);
  EXPECT_FALSE(recorded.results[0].seconds);
}

namespace fs = std::filesystem;

TEST(RecordedSpace, ReadsT4Results) {
  const RecordedSpace recorded = read_recorded_space(written("t4.json", kT4));
  ASSERT_EQ(recorded.space.size(), 3u);
  EXPECT_EQ(recorded.failures(), 1u);
  EXPECT_DOUBLE_EQ(recorded.best(), 2e-3);
  const auto failed = recorded.space.find(Configuration{{"a", 2}, {"b", "x"}});
  ASSERT_TRUE(failed);
  EXPECT_EQ(recorded.answers[*failed].outcome, Outcome::compile_error);
  EXPECT_FALSE(recorded.space.find(Configuration{{"a", 2}, {"b", "y"}}));
}

TEST(RecordedSpace, WhatIsWrongIsToldWithTheFile) {
  const auto message = [](const fs::path& file) -> std::string {
    return thrown_by([&] { read_recorded_space(file); });
  };
  EXPECT_THAT(message("/nowhere/x.json"), HasSubstr("/nowhere/x.json: cannot be read"));
  EXPECT_THAT(message(written("broken.json", "{")), HasSubstr("parse error"));
  EXPECT_THAT(message(written("other.json", "{}")), HasSubstr("neither a Kernel Tuner cache"));
  EXPECT_THAT(message(written("cut.json", R"({"cache": {}})")),
              HasSubstr("cut.json: \"tune_params\" is missing"));
  EXPECT_THAT(message(written("type.json", R"({"cache": {}, "tune_params": {"a": 3},
                                              "tune_params_keys": ["a"]})")),
              HasSubstr("type.json: tune_params.a: expected an array, got number"));
  EXPECT_THAT(message(written("row.json", R"({"cache": {"1": [2]}, "tune_params": {"a": [1]},
                                             "tune_params_keys": ["a"]})")),
              HasSubstr("row.json: cache.1: expected an object, got array"));
  EXPECT_THAT(message(written("t4.json", R"({"results": [{"configuration": {"a": 1},
                                            "objectives": [], "measurements": []}]})")),
              HasSubstr("t4.json: results[0].objectives: has 0 items"));
  EXPECT_THAT(message(written("large.json", "{\"cache\": {},\n  \"objective\": 1e400}")),
              HasSubstr("large.json: parse error at line 2, column 16: the number 1e400"));
  EXPECT_THAT(
      message(written("empty.json", R"({"tune_params_keys": [], "tune_params": {}, "cache": {}})")),
      HasSubstr("holds no configuration"));
  EXPECT_THAT(message(::testing::TempDir()), HasSubstr("is a folder"));
}

TEST(RecordedSpace, OfResultsWithTheSameValuesTheLastCounts) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {2}, .seconds = 3.0}, {.values = {2}, .seconds = 5.0}};
  const RecordedSpace recorded = recorded_space("twice", results);
  ASSERT_EQ(recorded.space.size(), 1u);
  EXPECT_EQ(recorded.best(), 5);
}

TEST(RecordedSpace, AValueThatIsNotListedIsAnError) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {4}, .seconds = 3.0}};
  EXPECT_THAT([&] { recorded_space("other", results); },
              ::testing::ThrowsMessage<Error>(HasSubstr("has the value 4, which its parameter")));
}

TEST(RecordedSpace, WithoutASuccessThereIsNoBest) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {1}, .outcome = Outcome::crash, .seconds = {}}};
  const RecordedSpace recorded = recorded_space("bad", results);
  EXPECT_EQ(recorded.best(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(recorded.failures(), 1u);
}

namespace fs = std::filesystem;

TEST(Replay, AskingTwiceCountsOnceAndTheBudgetHolds) {
  const RecordedSpace recorded = read_recorded_space(written("t4.json", kT4));
  RecordedEvaluator evaluator(recorded, {.budget = 2});
  const std::vector<std::size_t> asked = {0, 0, 1, 0, 2};
  EXPECT_EQ(evaluator.evaluate(asked).size(), 4u);
  EXPECT_THAT(evaluator.order(), ::testing::ElementsAre(0, 1));
  EXPECT_EQ(evaluator.remaining(), 0u);
}

TEST(Replay, AFileMayHaveTheDefaultAndThePredictions) {
  constexpr const char* kMarked = R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3]},
  "objective": "time", "cache": {"1": {"a": 1, "time": 4.0, "predicted_ms": 3},
  "2": {"a": 2, "time": 9.0, "predicted_ms": 2, "is_default": true},
  "3": {"a": 3, "time": 1.0, "predicted_ms": 1}}})";
  const RecordedSpace recorded = read_recorded_space(written("marked.json", kMarked));
  EXPECT_THAT(recorded.predicted, ::testing::ElementsAre(3e-3, 2e-3, 1e-3));
  for (const ReplayRun& run : replay(recorded, {.budget = 3, .seeds = 4, .threads = 2})) {
    EXPECT_THAT(run.order, ::testing::ElementsAre(1, 2, 0));  // the model's best is next
  }
}

TEST(Replay, SumsUpRunsByTheirQuartiles) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<ReplayRun> runs = {{1, {infinity, 3, 1}, 0}, {2, {2, 1.04}, 0}, {3, {2, 2}, 0}};
  const ReplaySummary summary = summarize(runs);
  EXPECT_DOUBLE_EQ(summary.at[0].median, 1.04);
  EXPECT_DOUBLE_EQ(summary.to_5_percent.median, 3);
  EXPECT_DOUBLE_EQ(summary.reach_5_percent, 2.0 / 3);
  EXPECT_DOUBLE_EQ(summary.reach_1_percent, 1.0 / 3);
  EXPECT_EQ(quartiles({1, 2, infinity}).high, infinity);
  EXPECT_DOUBLE_EQ(quartiles({4, 1, 2}).low, 1.5);
}

TEST(Replay, EndingAtTheOptimumChangesNoFigure) {
  const RecordedSpace recorded = read_recorded_space(written("t4.json", kT4));
  ReplayRequest request{"random", 3, 5};
  const ReplaySummary whole = summarize(replay(recorded, request));
  request.end_at_optimum = true;
  const ReplaySummary ended = summarize(replay(recorded, request));
  EXPECT_EQ(whole.at[0].median, ended.at[0].median);
  EXPECT_EQ(whole.to_1_percent.median, ended.to_1_percent.median);
}

TEST(Replay, AnAutomaticBudgetEndsWhenLittleIsLeftToGain) {
  const RecordedSpace recorded = read_recorded_space(
      fs::path(AUTOTUNE_SOURCE_DIR) / "tests/tuner/replay/recorded/pnpoly-rtx3090.json.gz");
  ReplayRequest request;
  request.budget = 400;
  request.seeds = 3;
  request.automatic = true;
  const ReplaySummary summary = summarize(replay(recorded, request));
  EXPECT_GE(summary.mean_evaluations, 32);
  EXPECT_LT(summary.mean_evaluations, 128);
  EXPECT_LT(summary.at_end.median, 1.005);
}

TEST(Replay, GuidedBeatsRandomOnRecordedSpaces) {
  const fs::path folder = AUTOTUNE_SOURCE_DIR "/tests/tuner/replay/recorded";
  for (const char* name : {"pnpoly-rtx3090", "convolution-a4000"}) {
    const RecordedSpace recorded = read_recorded_space(folder / (name + std::string(".json.gz")));
    ReplayRequest request{"guided", 50, 3, 1, true};
    const double guided = summarize(replay(recorded, request)).at[2].median;
    request.strategy = "random";
    EXPECT_LT(guided, summarize(replay(recorded, request)).at[2].median) << name;
    EXPECT_LT(guided, 1.2) << name;
  }
}

TEST(Replay, GuidedLeavesAPlateauThatDeceives) {
  const RecordedSpace recorded =
      read_recorded_space(AUTOTUNE_SOURCE_DIR "/bench/search/spaces/synthetic-d8.json.gz");
  const ReplaySummary summary = summarize(replay(recorded, {"guided", 100, 3, 1, true}));
  EXPECT_LT(summary.at[3].median, 1.5) << "1.9 is the plateau";
}

}  // namespace
}  // namespace autotune
