// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <limits>

#include "tests/support/matchers.hpp"

namespace autotune::cli {
namespace {

/// A warp that reads every other f32: 128 of 256 bytes are of use.
const KernelTraffic kStrided{
    .entry = "copy",
    .access = "load x[2 * tx]",
    .traffic = {.requests = 1, .transactions = 8, .bytes_asked = 128, .bytes_moved = 256}};

TEST(TrafficReport, IsALineForEachAccess) {
  EXPECT_EQ(traffic_text({kStrided, kStrided}, "  "),
            "  load x[2 * tx]: 8 transactions, 50 % efficient\n"
            "  load x[2 * tx]: 8 transactions, 50 % efficient\n");
  EXPECT_EQ(traffic_text({}, "  "), "");
}

TEST(TrafficReport, JsonHasTheCounts) {
  const Json json = traffic_json({kStrided});
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0], (Json{{"kernel", "copy"},
                           {"access", "load x[2 * tx]"},
                           {"requests", 1},
                           {"transactions", 8},
                           {"bytes_asked", 128},
                           {"bytes_moved", 256},
                           {"efficiency", 0.5}}));
  EXPECT_EQ(traffic_json({}), Json::array());
}

/// 40 evaluations of 100 configurations; all went well.
SearchHealth good() {
  SearchHealth health;
  health.space = 100;
  health.tried = 40;
  health.ranked = health.timed = 40;
  health.rank_correlation = 0.9;
  health.last_gain = 0.004;
  return health;
}

SearchHealth failing(const char* outcome, const char* message) {
  SearchHealth health = good();
  health.failed = 10;
  health.main_failure = Reason{outcome, message, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  return health;
}

TEST(SearchHealthReport, AGoodSearchNeedsNoAdvice) {
  EXPECT_EQ(lost_text(good()), "");
  EXPECT_EQ(health_text(good()),
            "ranking     0.90, the rank correlation of predicted and measured times of 40 "
            "configurations\n"
            "failures    0 of 40 (0 %)\n"
            "progress    the last quarter of 40 evaluations gained 0.4 %\n");
  EXPECT_EQ(health_text({}), "") << "nothing was tried";
}

TEST(SearchHealthReport, AMisleadingModelIsNamedByExplainOnly) {
  SearchHealth health = good();
  health.rank_correlation = 0.25;
  EXPECT_EQ(lost_text(health), "");
  EXPECT_THAT(health_text(health), HasSubstr("\n  below 0.5: the model misleads the search"));
  EXPECT_EQ(json_of(health)["misled"], true);
}

TEST(SearchHealthReport, FailuresComeWithTheirMainReason) {
  const SearchHealth health = failing("compile_error", "k.cu(3): error: too wide");
  EXPECT_THAT(lost_text(health), HasSubstr("  failures: 10 of 40 (25 %), 9 of them compile_error: "
                                           "k.cu(3): error: too wide; a constraint"));
  const Json json = json_of(health);
  EXPECT_EQ(json["failed"], 10);
  EXPECT_EQ(json["main_failure"]["outcome"], "compile_error");
  EXPECT_EQ(json["main_failure"]["count"], 9);
}

TEST(SearchHealthReport, AWrongResultIsToBeCorrectedNotHidden) {
  for (const std::string& text : {lost_text(failing("wrong", "out[0] is 3, expected 2")),
                                  health_text(failing("wrong", "out[0] is 3, expected 2"))}) {
    EXPECT_THAT(text, HasSubstr("correct the kernel, or rule these configurations out"));
    EXPECT_THAT(text, Not(HasSubstr("saves these evaluations")));
  }
}

TEST(SearchHealthReport, TheNextBudgetIsTwiceThisOneAndAtMostTheSpace) {
  SearchHealth health = good();
  health.last_gain = 0.02;
  EXPECT_THAT(lost_text(health), HasSubstr("by 2.0 % in the last quarter of 40 evaluations: try "
                                           "--budget 80\n"));
  health.space = 60;
  EXPECT_THAT(health_text(health), HasSubstr("still improving at the end: try --budget 60\n"));
  health.space = 40;
  EXPECT_EQ(lost_text(health), "") << "everything was tried";
}

TEST(SearchHealthReport, WhatIsNotKnownIsNull) {
  const Json json = json_of(SearchHealth{});
  for (const char* key : {"rank_correlation", "main_failure", "last_quarter_gain"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
}

/// On a CPU: measured 1 ms for 10^9 FLOPs, predicted 2 ms.
Explanation on_host() {
  Explanation explanation;
  explanation.flops = 1e9;
  explanation.best = {{"BLOCK", 16}};
  explanation.seconds = 1e-3;
  explanation.estimate.seconds = 2e-3;
  explanation.estimate.binding = Term::l2;
  explanation.estimate.terms[static_cast<std::size_t>(Term::launch)] = 5e-6;
  explanation.estimate.terms[static_cast<std::size_t>(Term::l2)] = 1.9e-3;
  return explanation;
}

Explanation on_gpu() {
  Explanation explanation = on_host();
  explanation.gpu = find_gpu("h200");
  explanation.seconds = explanation.flops / (explanation.gpu.flops_per_second() / 4);
  explanation.input.shape = {.threads = 256, .registers = 32};
  explanation.input.blocks = 264;
  explanation.estimate.occupancy = occupancy(explanation.gpu, explanation.input.shape);
  explanation.estimate.waves = 0.25;
  return explanation;
}

TEST(ExplanationText, ComparesThePredictionWithTheMeasuredTime) {
  EXPECT_EQ(explanation_text(on_host()),
            "\nmeasured    1.000 ms, 1.000 TFLOP/s\n"
            "predicted   2.000 ms, 2.00x the measured time, bound by L2\n"
            "  bounds: launch 5.000 us, L2 1.900 ms\n");
  Explanation pinned = on_host();
  pinned.seconds.reset();
  EXPECT_THAT(explanation_text(pinned), StartsWith("\npredicted   2.000 ms, bound by L2\n"));
}

TEST(ExplanationText, WarnsIfTheTargetHasChanged) {
  Explanation stale = on_host();
  stale.same_source = false;
  EXPECT_THAT(explanation_text(stale), StartsWith("(the target has changed since it was tuned"));
}

TEST(ExplanationText, OfAGpuHasOccupancyWavesAndRoofs) {
  const std::string text = explanation_text(on_gpu());
  EXPECT_THAT(text, HasSubstr(", 25.0 % of the FMA peak\n"));
  EXPECT_THAT(text, HasSubstr("occupancy   100 %: 8 blocks of 256 threads, 32 registers a thread, "
                              "0 bytes of shared memory; limited by warps and registers\n"));
  EXPECT_THAT(text, HasSubstr("264 blocks on 132 multiprocessors: 0.25 waves, 100 % balanced\n"));
  EXPECT_THAT(text, HasSubstr("roofs       FMA 66.91 TFLOP/s\n"));
  EXPECT_THAT(explanation_text(on_host()), Not(HasSubstr("occupancy")));
}

TEST(ExplanationText, TheRateOnTensorCoresIsComparedWithTheirs) {
  Explanation tensor = on_gpu();
  tensor.estimate.tensor_roof = tensor.gpu.flops_per_second();
  tensor.tensor_roof = tensor.estimate.tensor_roof;
  EXPECT_THAT(explanation_text(tensor), HasSubstr(", 25.0 % of the tensor cores' peak\n"));
  EXPECT_THAT(explanation_text(tensor), HasSubstr(", tensor cores 66.91 TFLOP/s"));
}

TEST(ExplanationText, WithoutFlopsThereIsNoRate) {
  Explanation plain = on_gpu();
  plain.flops = 0;
  EXPECT_THAT(explanation_text(plain), Not(HasSubstr("FLOP")));
  EXPECT_THAT(explanation_text(plain), Not(HasSubstr("roofs")));
}

TEST(ExplanationText, ALoserShowsWhatDiffers) {
  Explanation explanation = on_host();
  Loser loser;
  loser.trial.seconds = 1.043e-3;
  loser.slower = 0.043;
  loser.estimate.seconds = 3e-3;
  loser.differences = {{"BLOCK", "16", "32"}, {"LOADER", "", "tma"}, {"STAGES", "3", ""}};
  explanation.losers = {loser};
  EXPECT_THAT(explanation_text(explanation),
              HasSubstr("    +4.3 %  1.043 ms  BLOCK=32 (not 16) LOADER=tma, no STAGES\n"
                        "            predicted 3.000 ms, bound by launch\n"));
  explanation.losers[0].slower = 10.5;
  EXPECT_THAT(explanation_text(explanation), HasSubstr("     11.5x  1.043 ms"));
}

TEST(ExplanationText, ReasonsAreCountedAndTheRareOnesSummedUp) {
  Explanation explanation = on_host();
  EXPECT_THAT(explanation_text(explanation), Not(HasSubstr("tried")));
  explanation.tried = 30;
  explanation.timed.resize(4);
  explanation.reasons = {{"wrong", "out[0] is 3\nmore", {0, 1, 2}}, {"crash", "", {3}}};
  EXPECT_THAT(explanation_text(explanation), HasSubstr("\ntried       30, 4 of them timed\n"
                                                       "      3 wrong: out[0] is 3\n"
                                                       "      1 crash\n"));
  explanation.reasons.resize(8);
  EXPECT_THAT(explanation_text(explanation), HasSubstr("  and 2 other reasons\n"));
}

TEST(ExplanationJson, HasTheFiguresAndNullForWhatIsUnknown) {
  Explanation explanation = on_host();
  explanation.seconds.reset();
  explanation.estimate.seconds = std::numeric_limits<double>::infinity();
  const Json json = explanation_json(explanation);
  EXPECT_TRUE(json["measured_seconds"].is_null());
  EXPECT_TRUE(json["predicted"]["seconds"].is_null()) << "no block fits";
  EXPECT_EQ(json["predicted"]["binding"], "L2");
  EXPECT_EQ(json["config"]["BLOCK"], 16);
  EXPECT_FALSE(json.contains("occupancy"));
}

TEST(ExplanationJson, OfAGpuHasOccupancyAndRoofs) {
  const Json json = explanation_json(on_gpu());
  EXPECT_EQ(json["occupancy"]["active_blocks"], 8);
  EXPECT_DOUBLE_EQ(json["roofs"]["fma"], find_gpu("h200").flops_per_second());
  EXPECT_TRUE(json["roofs"]["tensor_cores"].is_null());
}

std::vector<std::string> names_of(const Plot& plot) {
  std::vector<std::string> names;
  for (const Series& series : plot.series) names.push_back(series.name);
  return names;
}

/// BLOCK=16 is the best with 10 us, BLOCK=32 takes 20 us, the default 40 us.
Explanation two_timed() {
  Explanation explanation;
  explanation.best = {{"BLOCK", 16}};
  explanation.seconds = 11e-6;
  explanation.default_seconds = 40e-6;
  explanation.timed = {
      {.configuration = {{"BLOCK", 16}}, .seconds = 10e-6, .flops_per_second = 2e13},
      {.configuration = {{"BLOCK", 32}}, .seconds = 20e-6, .flops_per_second = 1e13}};
  return explanation;
}

TEST(ExplanationPlot, OfAHostRanksTheTimesOfTheSearch) {
  const Plot plot = plot_of(two_timed(), "toy");
  EXPECT_EQ(plot.title, "toy");
  EXPECT_EQ(plot.y.label, "microseconds");
  EXPECT_THAT(names_of(plot), ElementsAre("default", "tried", "best"));
  EXPECT_DOUBLE_EQ(plot.series[0].points[0].y, 40);
  EXPECT_EQ(plot.series[1].points[0].x, 2);
  EXPECT_DOUBLE_EQ(plot.series[1].points[0].y, 20);
  EXPECT_DOUBLE_EQ(plot.series[2].points[0].y, 10) << "not the playoff's time";
}

TEST(ExplanationPlot, EmptySeriesAreLeftOut) {
  Explanation explanation = two_timed();
  explanation.default_seconds.reset();
  explanation.timed.resize(1);
  EXPECT_THAT(names_of(plot_of(explanation, "")), ElementsAre("best"));
}

/// The same on an H200, each with 100 FLOPs per byte through L2.
Explanation two_on_gpu() {
  Explanation explanation = two_timed();
  explanation.gpu = find_gpu("h200");
  explanation.flops = 2e8;
  explanation.input.work.l2_bytes = 2e6;
  for (ExplainedTrial& trial : explanation.timed) trial.l2_intensity = 100;
  return explanation;
}

TEST(ExplanationPlot, OfAGpuIsARoofline) {
  const Explanation explanation = two_on_gpu();
  const Plot plot = plot_of(explanation, "toy");
  EXPECT_TRUE(plot.x.logarithmic && plot.y.logarithmic);
  EXPECT_THAT(names_of(plot), ElementsAre("FMA and L2 roofs", "tried", "best"));
  const std::vector<Point>& roof = plot.series[0].points;
  ASSERT_EQ(roof.size(), 3u);
  const double peak = explanation.gpu.flops_per_second() / 1e12;
  EXPECT_DOUBLE_EQ(roof[1].y, peak);
  EXPECT_DOUBLE_EQ(roof[2].y, peak);
  EXPECT_DOUBLE_EQ(roof[1].x * l2_roof(explanation), peak * 1e12) << "the ridge";
  EXPECT_DOUBLE_EQ(plot.series[1].points[0].y, 10);
  EXPECT_DOUBLE_EQ(plot.series[2].points[0].x, 100);
}

TEST(ExplanationPlot, TensorCoresHaveTheirRoofAboveThatOfFmas) {
  Explanation explanation = two_on_gpu();
  explanation.tensor_roof = 2 * explanation.gpu.flops_per_second();
  const Plot plot = plot_of(explanation, "");
  EXPECT_THAT(names_of(plot), ElementsAre("tensor and L2 roofs", "FMA roof", "tried", "best"));
  EXPECT_DOUBLE_EQ(plot.series[0].points[1].y, 2 * plot.series[1].points[0].y);
  const Point& meets = plot.series[1].points[0];
  EXPECT_NEAR(meets.y * 1e12, meets.x * l2_roof(explanation), 1e6) << "where L2 allows as much";
}

TEST(ExplanationPlot, MemoryIsARoofIfItIsBelowThePeak) {
  Explanation explanation = two_on_gpu();
  explanation.estimate.intensity = 1;  // FLOPs a byte
  const Plot plot = plot_of(explanation, "");
  ASSERT_THAT(names_of(plot), ElementsAre("FMA and L2 roofs", "memory roof", "tried", "best"));
  EXPECT_DOUBLE_EQ(plot.series[1].points[0].y, explanation.gpu.memory_bytes_per_second / 1e12);
  explanation.estimate.intensity = 1e6;
  EXPECT_EQ(plot_of(explanation, "").series.size(), 3u);
}

TEST(ExplanationPlot, WithoutFlopsAGpuHasTheRankingToo) {
  Explanation explanation = two_on_gpu();
  explanation.flops = 0;
  EXPECT_THAT(names_of(plot_of(explanation, "")), ElementsAre("default", "tried", "best"));
}

}  // namespace
}  // namespace autotune::cli
