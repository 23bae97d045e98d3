// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <sstream>

#include "tests/support/matchers.hpp"

namespace autotune::cli {
namespace {

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

class CheckReport : public ::testing::Test {
 protected:
  CheckReport() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {16, 32}, {}, false}};
    target_.default_configuration = {{"BLOCK", 16}};
    device_.name = "a device";
    check_.product = 2;
    check_.valid = 2;
    check_.default_is_legal = true;
    check_.buffers = {{.name = "x", .length = 256, .role = Role::input},
                      {.name = "y", .length = 256, .role = Role::output}};
    check_.configurations = {{.configuration = {{"BLOCK", 16}}},
                             {.configuration = {{"BLOCK", 32}}}};
  }

  std::string text(const CheckedTraffic& traffic = {}) const {
    std::ostringstream out;
    print_check(out, target_, problem_, device_, check_, traffic);
    return out.str();
  }

  Target target_;
  Problem problem_{{{"N", 256}}};
  DeviceInfo device_;
  TargetCheck check_;
};

TEST_F(CheckReport, ListsTheSpaceAndTheBuffers) {
  EXPECT_THAT(text(), HasSubstr("space     2 of 2 combinations are valid\n"
                                "default   BLOCK=16\n"
                                "input     x 256 f32, 1.000 KiB\n"
                                "output    y 256 f32, 1.000 KiB\n"));
  check_.default_is_legal = false;
  EXPECT_THAT(text(), HasSubstr("BLOCK=16, the valid one nearest to the manifest's\n"));
}

TEST_F(CheckReport, TellsOnlyTheWorkThatIsDeclared) {
  EXPECT_THAT(text(), HasSubstr("work      not declared, so times come without rates\n"));
  check_.work = {.flops = 512, .bytes = 2048};
  EXPECT_THAT(text(), HasSubstr("work      512 FLOPs, 2.000 KiB a call\n"));
  check_.work.bytes = 0;
  EXPECT_THAT(text(), HasSubstr("work      512 FLOPs a call\n"));
  check_.work = {.flops = 0, .bytes = 2048};
  EXPECT_THAT(text(), HasSubstr("work      2.000 KiB a call\n"));
}

TEST_F(CheckReport, ShowsEachLaunchWithItsResources) {
  CheckedConfiguration& first = check_.configurations.front();
  first.launches = {{.entry = "copy", .grid = {16, 1, 1}, .block = {16, 1, 1}}};
  first.launches.front().dynamic_shared_bytes = 24;
  first.resources = {{.entry = "copy", .registers = 40, .shared_bytes = 1000, .local_bytes = 8}};
  EXPECT_THAT(text(), HasSubstr("      copy: grid 16x1x1, block 16x1x1, 40 registers, 1.000 KiB of "
                                "shared memory, 8 bytes spilled\n"));
}

TEST_F(CheckReport, CountsWhatIsFine) {
  EXPECT_THAT(text(), HasSubstr("\n2 of 2 configurations and the reference are fine\n"));
  check_.configurations[1].outcome = Outcome::invalid;
  check_.reference = Outcome::compile_error;
  check_.reference_log = "toy.cu:9: error: no";
  EXPECT_THAT(text(), HasSubstr("  compile_error  the reference\ntoy.cu:9: error: no\n"
                                "1 of 2 configurations are fine, and the reference is not\n"));
}

}  // namespace
}  // namespace autotune::cli
