// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

}  // namespace
}  // namespace autotune::cli
