// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/tuner/replay/small_space.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::kT4;
using testing::written;

TEST(Replay, AskingTwiceCountsOnceAndTheBudgetHolds) {
  const RecordedSpace recorded = read_recorded_space(written("t4.json", kT4));
  RecordedEvaluator evaluator(recorded, 2);
  const std::vector<std::size_t> asked = {0, 0, 1, 0, 2};
  EXPECT_EQ(evaluator.evaluate(asked).size(), 4u);
  EXPECT_THAT(evaluator.order(), ::testing::ElementsAre(0, 1));
  EXPECT_EQ(evaluator.remaining(), 0u);
}

constexpr const char* kCompileTimes =
    R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3]},
  "objective": "time", "cache": {"1": {"a": 1, "time": 4.0, "compile_time": 900},
  "2": {"a": 2, "time": 2.0, "compile_time": 100}, "3": {"a": 3, "time": 1.0, "compile_time": 200}}})";

TEST(Replay, InBatchesWhatIsCompiledFirstIsAnsweredFirst) {
  const RecordedSpace recorded = read_recorded_space(written("compile.json", kCompileTimes));
  EXPECT_THAT(recorded.compile_seconds, ::testing::ElementsAre(0.9, 0.1, 0.2));
  RecordedEvaluator evaluator(recorded, 3, 2);
  const std::vector<std::size_t> asked = {0, 1, 2};  // the third waits for the second's compiler
  EXPECT_EQ(evaluator.evaluate_some(asked, 1).front().index, 1u);
  EXPECT_EQ(evaluator.evaluate_some(std::vector<std::size_t>{0, 2}, 1).front().index, 2u);
  EXPECT_EQ(evaluator.evaluate_some(std::vector<std::size_t>{0}, 1).front().index, 0u);
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
