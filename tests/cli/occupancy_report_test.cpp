// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/occupancy_report.hpp"

#include <cstdlib>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/occupancy.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

/// `tiny` of these tests, with a configuration of its own.
std::vector<OccupancyQuestion> questions(std::vector<std::string> words) {
  words.insert(words.begin(), {"--target", testing::manifest_of("tiny")});
  return compiled_questions(Arguments(verb_called("occupancy"), words), find_gpu("h200"));
}

TEST(CompiledShape, IsOfTheConfigurationNearestToTheDefault) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const testing::Sandbox sandbox;
  setenv("AUTOTUNE_CACHE", (sandbox.folder() / "cache").c_str(), 1);
  const std::vector<OccupancyQuestion> found = questions({"BLOCK=16", "--size", "100"});
  unsetenv("AUTOTUNE_CACHE");
  ASSERT_EQ(found.size(), 1u) << "one kernel";
  EXPECT_EQ(found[0].kernel, "tiny with BLOCK=16 STEP=1");
  EXPECT_EQ(found[0].block, "16 x 1 x 1");
  EXPECT_EQ(found[0].shape.threads, 16);
  EXPECT_GT(found[0].shape.registers, 0);
  EXPECT_EQ(found[0].gpu.name, "NVIDIA H200");
}

TEST(CompiledShape, WrongValuesAreRefusedBeforeAnythingIsCompiled) {
  EXPECT_THAT([] { questions({"BLOK=16"}); },
              ThrowsMessage<UsageError>("tiny has no parameter BLOK: did you mean BLOCK?"));
  EXPECT_THAT([] { questions({"BLOCK"}); },
              ThrowsMessage<UsageError>(HasSubstr("\"BLOCK\" is not NAME=VALUE, such as BM=64")));
  EXPECT_THAT([] { questions({"BLOCK=17"}); },
              ThrowsMessage<UsageError>(HasSubstr("no valid configuration with BLOCK=17 here")));
  EXPECT_THAT(
      [] {
        questions({"--size", "1,2"});
      },
      ThrowsMessage<UsageError>(HasSubstr("is 2 problems, and occupancy is of one")));
}

/// 256 threads of 32 registers on an H200: 8 blocks fill its 64 warps and 65536 registers.
OccupancyQuestion question() {
  return {.kernel = "",
          .block = "16 x 16",
          .gpu = find_gpu("h200"),
          .shape = {.threads = 256, .registers = 32}};
}

std::string table(const OccupancyQuestion& question) {
  return occupancy_table(question, occupancy(question.gpu, question.shape));
}

TEST(OccupancyReport, TheTableMarksTheLimits) {
  const std::string text = table(question());
  EXPECT_THAT(text, HasSubstr("NVIDIA H200, compute capability 9.0, 132 multiprocessors\n"));
  EXPECT_THAT(text, HasSubstr("block           256 threads (16 x 16), 8 warps\n"));
  EXPECT_THAT(text, HasSubstr("warps                8  8 of 64  <- limits\n"));
  EXPECT_THAT(text, HasSubstr("blocks              32  1 of 32\n"));
  EXPECT_THAT(text, HasSubstr("occupancy       100 %, limited by warps and registers\n"));
  EXPECT_THAT(text, Not(HasSubstr("clusters")));
}

TEST(OccupancyReport, NamesTheKernelAndNotTheSidesOfALine) {
  OccupancyQuestion one = question();
  one.kernel = "gemm";
  one.block = "256";
  EXPECT_THAT(table(one), HasSubstr("kernel          gemm\n"));
  EXPECT_THAT(table(one), HasSubstr("block           256 threads, 8 warps\n"));
}

TEST(OccupancyReport, APartialWarpIsAWarp) {
  OccupancyQuestion one = question();
  one.shape.threads = 33;
  EXPECT_THAT(table(one), HasSubstr("33 threads (16 x 16), 2 warps\n"));
}

TEST(OccupancyReport, LimitersAreListedInWords) {
  Occupancy answer;
  answer.active_blocks = 4;
  answer.limits.fill(kUnlimited);
  const auto limit = [&](Limit which) { answer.limits[static_cast<std::size_t>(which)] = 4; };
  limit(Limit::registers);
  EXPECT_EQ(limiter_text(answer), "registers");
  limit(Limit::shared_memory);
  EXPECT_EQ(limiter_text(answer), "registers and shared memory");
  limit(Limit::warps);
  EXPECT_EQ(limiter_text(answer), "warps, registers and shared memory");
}

TEST(OccupancyReport, JsonLeavesOutWhatDoesNotLimit) {
  const OccupancyQuestion one = question();
  const Json json = occupancy_json(one, occupancy(one.gpu, one.shape));
  EXPECT_EQ(json["gpu"], "NVIDIA H200");
  EXPECT_EQ(json["occupancy"], 1);
  EXPECT_EQ(json["limiters"], Json({"warps", "registers"}));
  EXPECT_TRUE(json["limits"].contains("shared_memory"));
  EXPECT_FALSE(json["limits"].contains("clusters"));
  EXPECT_FALSE(json.contains("kernel"));
  EXPECT_FALSE(json.contains("active_clusters"));
}

TEST(OccupancyReport, ASweepHasAPointForEachValue) {
  const Json json = sweep_json(question(), Swept::block, [](int) { return 0; });
  ASSERT_EQ(json.size(), 32u) << "1 to 32 warps";
  EXPECT_EQ(json[7]["threads"], 256);
  EXPECT_EQ(json[7]["active_warps"], 64);
}

TEST(OccupancyReport, ThePlotMarksTheKernel) {
  const Plot plot = sweep_plot(question(), Swept::registers, [](int) { return 0; });
  EXPECT_EQ(plot.title, "Active warps of 64 on NVIDIA H200");
  EXPECT_EQ(plot.x.label, "registers a thread");
  const Series& mark = plot.series.back();
  EXPECT_EQ(mark.stroke, Stroke::mark);
  ASSERT_EQ(mark.points.size(), 1u);
  EXPECT_EQ(mark.points[0].x, 32);
  EXPECT_EQ(mark.points[0].y, 64);
}

TEST(OccupancyReport, TheCurveOfRegistersIsInSteps) {
  const std::vector<Point> points =
      sweep_plot(question(), Swept::registers, [](int) { return 0; }).series[0].points;
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_TRUE(points[i].x == points[i - 1].x || points[i].y == points[i - 1].y) << i;
  }
}

TEST(OccupancyReport, SharedMemoryIsDrawnInKibibytes) {
  OccupancyQuestion one = question();
  one.shape.dynamic_shared_bytes = 8192;
  const Plot plot = sweep_plot(one, Swept::shared, [](int) { return 0; });
  EXPECT_EQ(plot.series.back().points[0].x, 8);
  ASSERT_TRUE(plot.x.high);
  EXPECT_NEAR(*plot.x.high, 227, 1) << "the most of a block";
}

}  // namespace
}  // namespace autotune::cli
