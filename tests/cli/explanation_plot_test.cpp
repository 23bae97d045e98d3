// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_plot.hpp"

#include <gmock/gmock.h>

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;

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
