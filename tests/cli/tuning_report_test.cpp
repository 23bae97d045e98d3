// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_report.hpp"

#include <limits>

#include "tests/cli/tool.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/cover.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

ProblemReport problem(bool has_best) {
  ProblemReport report;
  report.problem = {{{"N", 100}}};
  if (has_best) report.decision.best.emplace();
  return report;
}

TuningReport run_of(std::vector<ProblemReport> problems, bool interrupted = false) {
  TuningReport report;
  report.problems = std::move(problems);
  report.interrupted = interrupted;
  return report;
}

/// The end of a run: its status, and what it printed.
struct End {
  int status = 0;
  std::string out, err;
};

End end(const std::vector<TuningReport>& runs, const testing::Words& words = {}) {
  Target target;
  target.name = "toy";
  target.sizes = {"N"};
  std::vector<DeviceReport> reports;
  for (const TuningReport& run : runs) reports.push_back({DeviceInfo{}, run});
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status =
      TuneOutput(Arguments(verb_called("tune"), words), target, {}, "t.db").end(reports);
  const std::string out = ::testing::internal::GetCapturedStdout();
  return {status, out, ::testing::internal::GetCapturedStderr()};
}

TEST(TuneOutput, TheStatusIsThatOfTheWorstRun) {
  EXPECT_EQ(end({run_of({problem(true)})}).status, kDone);
  EXPECT_EQ(end({run_of({problem(true), problem(false)})}).status, kNoCorrectConfiguration);
  EXPECT_EQ(end({run_of({problem(false)}), run_of({problem(true)})}).status,
            kNoCorrectConfiguration);
  EXPECT_EQ(end({run_of({problem(false)}), run_of({}, true)}).status, kInterrupted);
}

TEST(TuneOutput, AnInterruptedRunSaysHowToContinue) {
  ProblemReport tried = problem(true);
  tried.taken_over = 1;
  EXPECT_EQ(end({run_of({tried}, true)}).err,
            "warning: interrupted: every trial is kept; the same command continues from here\n");
  EXPECT_EQ(end({run_of({}, true)}).err, "warning: interrupted: nothing was measured\n");
  EXPECT_EQ(end({run_of({})}).err, "");
}

TEST(TuneOutput, JsonIsOneDocumentOrOneForEachKindOfDevice) {
  const End one = end({run_of({problem(true)})}, "--json");
  EXPECT_EQ(Json::parse(one.out)["target"], "toy");
  const End two = end({run_of({problem(true)}), run_of({problem(true)})}, "--json");
  EXPECT_EQ(Json::parse(two.out).size(), 2u);
  EXPECT_TRUE(Json::parse(two.out).is_array());
}

TEST(TuneOutput, ARunWithAResultEndsWithTheCommandThatShowsIt) {
  const std::string next = "see it    autotune report --target toy --output report.html\n";
  EXPECT_EQ(end({run_of({problem(true)})}).out, next) << "problems were printed as they ended";
  EXPECT_EQ(end({run_of({problem(false)})}).out, "") << "there is nothing to see";
  EXPECT_EQ(end({run_of({problem(true)})}, "--quiet").out, "");
  EXPECT_EQ(
      end({run_of({problem(true)})}, "--target ./toy.target.toml --db t.db").out,
      "see it    autotune report --target ./toy.target.toml --db t.db --output report.html\n");
}

Arguments tune_arguments(const testing::Words& words) { return {verb_called("tune"), words}; }

TEST(TuneRequest, ThePolicyIsWhatTheOptionsSay) {
  const Policy policy =
      policy_of(tune_arguments("--l2 cold --launch stream --context alone --objective energy"),
                DeviceKind::cuda);
  EXPECT_EQ(policy.l2, L2State::cold);
  EXPECT_EQ(policy.form, LaunchForm::stream);
  EXPECT_EQ(policy.context, CallContext::alone);
  EXPECT_EQ(policy.objective, Objective::energy);
  EXPECT_EQ(policy.finalist_margin, policy.energy_margin) << "more finalists than by time";
}

TEST(TuneRequest, OnlyGuidedOnAGpuEndsByItself) {
  EXPECT_EQ(default_budget(DeviceKind::cuda, "guided"), "auto");
  EXPECT_EQ(default_budget(DeviceKind::cuda, "random"), "128");
  EXPECT_EQ(default_budget(DeviceKind::host, "guided"), "40");
}

TEST(TuneRequest, TheCommandIsInTheOrderOfTheOptions) {
  EXPECT_EQ(command_text(tune_arguments("--retune --fix A=1 --sizes 64 --fix B=2 --target gemm")),
            "tune --target gemm --sizes 64 --fix A=1 --fix B=2 --retune");
}

Tuned tuned(std::int64_t block, double seconds) {
  return {.configuration = {{"BLOCK", block}},
          .measurement = {.median = seconds, .low = 0.99 * seconds, .high = 1.01 * seconds},
          .cold_seconds = std::nullopt,
          .verified = true};
}

/// BLOCK=32 takes 1 ms, the default BLOCK=16 takes 2 ms; a call has 10^9 FLOPs.
class TuningReportText : public ::testing::Test {
 protected:
  TuningReportText() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {16, 32, 64}, {}, false}};
    report_.problem = {{{"N", 100}}};
    report_.flops = 1e9;
    report_.decision.best = tuned(32, 1e-3);
    report_.decision.default_configuration = tuned(16, 2e-3);
  }
  std::string text() const { return text_of(target_, {}, report_); }
  Json json() const {
    TuningReport run;
    run.problems = {report_};
    return json_of(target_, {}, "t.db", run)["problems"][0];
  }

  Target target_;
  ProblemReport report_;
};

TEST_F(TuningReportText, IsTheFiguresThenTheConfiguration) {
  report_.decision.noise_floor = 0.005;
  EXPECT_EQ(text(),
            "toy N=100: 1.000 ms [990.0 us, 1.010 ms], 1.000 TFLOP/s, 2.00x the default, noise "
            "floor 0.50 %\n  BLOCK=32\n");
}

TEST_F(TuningReportText, APredictionHasNoInterval) {
  report_.decision.predicted = true;
  EXPECT_THAT(text(), HasSubstr("toy N=100: 1.000 ms predicted, 1.000 TFLOP/s"));
  EXPECT_EQ(json()["best"]["provenance"], "predicted");
}

TEST_F(TuningReportText, SaysWhatTheWinnerIsComparedWith) {
  report_.decision.default_configuration = tuned(32, 1e-3);
  EXPECT_THAT(text(), HasSubstr(", the default itself\n"));
  report_.decision.default_configuration.reset();
  EXPECT_THAT(text(), HasSubstr(", the default is not among the finalists\n"));
  report_.default_failure = "wrong: out[0]";
  EXPECT_THAT(text(), HasSubstr(", the default failed: wrong: out[0]\n"));
  EXPECT_EQ(json()["default"]["failure"], "wrong: out[0]");
}

TEST_F(TuningReportText, CountsTheWinnerAmongItsTies) {
  report_.decision.ties = {{{"BLOCK", 64}}};
  EXPECT_THAT(text(), HasSubstr(", another is as fast\n")) << "within what is not known";
  report_.decision.tie_margin = 0.005;
  EXPECT_THAT(text(), HasSubstr(", another is as fast within 0.5 %"));
  report_.decision.noise_floor = report_.decision.tie_margin = 0.3;
  EXPECT_THAT(text(), HasSubstr("TFLOP/s, too noisy to compare (noise floor 30 %): end other"));
  EXPECT_THAT(text(), Not(HasSubstr("the default"))) << "a figure that says nothing";
  EXPECT_EQ(json()["ties"][0]["BLOCK"], 64);
  EXPECT_EQ(json()["tie_margin"], 0.3);
}

TEST_F(TuningReportText, FewSamplesHaveTheirConfidenceBesideTheInterval) {
  report_.decision.best->measurement.samples = 2;
  EXPECT_THAT(text(), HasSubstr("1.000 ms [990.0 us, 1.010 ms: 50 % confidence], "));
  report_.decision.best->measurement.samples = 6;
  EXPECT_THAT(text(), HasSubstr("1.000 ms [990.0 us, 1.010 ms], "));
}

TEST_F(TuningReportText, SaysThatTooFewBlocksReplacedNothing) {
  report_.decision.open_after_blocks = 2;
  EXPECT_THAT(text(),
              HasSubstr("\n  another seems faster, but replaces it only after 6 blocks; time "
                        "was for 2\n"));
  EXPECT_EQ(json()["open_after_blocks"], 2);
}

TEST_F(TuningReportText, AProblemWithoutAWinnerSaysWhy) {
  report_.decision.best.reset();
  EXPECT_EQ(text(), "toy N=100: interrupted before the first result\n");
  report_.outcomes[static_cast<std::size_t>(Outcome::wrong)] = 3;
  EXPECT_EQ(text(), "toy N=100: no correct configuration among those tried\n");
  report_.default_failure = "crash";
  EXPECT_EQ(text(),
            "toy N=100: no correct configuration among those tried; the default failed: "
            "crash\n");
  EXPECT_TRUE(json()["best"].is_null());
  report_.out_of_time = true;
  report_.decision.undone = "the vendor's library was timed";
  EXPECT_THAT(text(),
              HasSubstr("toy N=100: the time ran out before the vendor's library was timed"));
  report_.refused = "no configuration is valid";
  EXPECT_EQ(text(), "toy N=100: no configuration is valid\n");
  EXPECT_EQ(json()["refused"], "no configuration is valid");
}

TEST_F(TuningReportText, ABaselineStandsBesideTheWinner) {
  report_.decision.baselines = {{.plugin = "cublas",
                                 .name = "cublasSgemm",
                                 .measurement = {.median = 9e-4},
                                 .to_best = {0.9, 0.89, 0.91},
                                 .wins = true}};
  EXPECT_THAT(text(), HasSubstr("\n  0.900x cublas cublasSgemm (900.0 us): faster, libautotune "
                                "launches it\n"));
  EXPECT_EQ(json()["baselines"][0]["to_best"], Json({0.9, 0.89, 0.91}));
}

TEST_F(TuningReportText, OtherContextsFollowInOneLine) {
  report_.decision.best->other_contexts = {{CallContext::chain, {.median = 8e-4}},
                                           {CallContext::in_order, {.median = 9e-4}},
                                           {CallContext::alone, {.median = 2e-3}}};
  EXPECT_THAT(text(), HasSubstr("chain 800.0 us (900.0 us without early start)"));
  EXPECT_THAT(text(), HasSubstr("alone 2.000 ms"));
  EXPECT_THAT(text(), Not(HasSubstr("in_order")));
  EXPECT_DOUBLE_EQ(json()["best"]["contexts"]["in_order"], 9e5);
}

TEST_F(TuningReportText, EnergyIsComparedWithTheDefaults) {
  report_.decision.best->energy = Energy{.joules = 0.0125, .watts = 410, .resolution = 0.012};
  EXPECT_THAT(text(), HasSubstr("\n  12.5 mJ a call, 410 W, resolution 1.2 %\n"));
  report_.decision.default_configuration->energy = Energy{.joules = 0.025};
  EXPECT_THAT(text(), HasSubstr("12.5 mJ a call, 0.500x the default's, 410 W"));
  EXPECT_EQ(json()["best"]["watts"], 410);
  EXPECT_FALSE(json()["default"].contains("watts")) << "a stored figure has none";
}

using testing::Pair;

db::TrialRow trial(const char* configuration, double median_ns) {
  db::TrialRow row;
  row.configuration = configuration;
  row.outcome = "ok";
  row.median_ns = median_ns;
  return row;
}

std::vector<std::string> sorted(const std::vector<db::TrialRow>& trials, const char* column,
                                std::size_t most = 10) {
  std::vector<std::string> configurations;
  for (const db::TrialRow& row : sorted_trials(trials, column, most)) {
    configurations.push_back(row.configuration);
  }
  return configurations;
}

TEST(TrialTable, WhatIsUnknownComesLastAndTiesGoByTime) {
  std::vector trials{trial("C=1", 30), trial("C=2", 20), trial("C=3", 10)};
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=3", "C=2", "C=1"));
  trials[0].registers = 40;
  trials[1].registers = 32;
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=2", "C=1", "C=3"));
  trials[0].occupancy = 0.75;
  trials[1].occupancy = 0.5;
  EXPECT_THAT(sorted(trials, "occupancy"), ElementsAre("C=1", "C=2", "C=3"));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class TrialRatios : public db::SampledStore {
 protected:
  std::map<std::string, double> ratios() {
    return trial_ratios(store_, store_.tuned({}).at(0), 1.05);
  }
  db::TrialRow pruned(const std::string& configuration, double bound_ns) {
    db::TrialRow row = sample_.trial(configuration, bound_ns);
    row.outcome = "pruned";
    row.verified = false;
    return row;
  }
};

TEST_F(TrialRatios, TheDecisionIsTheFastestWhateverTheSearchTimed) {
  store_.append(std::vector{sample_.trial("BM=16", 20000), sample_.trial("BM=32", 20200)});
  store_.add_decision(sample_.decision("BM=32", 19000));
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", 1)));
}

TEST_F(TrialRatios, ALowerBoundWithinTheLimitSaysNothing) {
  store_.append(
      std::vector{sample_.trial("BM=16", 20000), pruned("BM=32", 20800), pruned("BM=64", 40000)});
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", kInfinity), Pair("BM=64", 2)));
}

TEST_F(TrialRatios, WhereAllFailNoRatioIsLostToArithmetic) {
  store_.append(
      std::vector{sample_.failure("BM=16", "wrong"), sample_.failure("BM=32", "timeout")});
  store_.pin({"", sample_.key, "BM=64", "", "2026-03-01T12:02:00.000Z"});  // not tried
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", kInfinity), Pair("BM=32", kInfinity)));
}

double limit_at(const char* within) {
  return limit_of(Arguments(verb_called("compare"), {"--within", within}));
}

TEST(LimitOf, ReadsPercent) {
  EXPECT_DOUBLE_EQ(limit_at("5"), 1.05);
  EXPECT_DOUBLE_EQ(limit_at("2.5%"), 1.025);
  EXPECT_DOUBLE_EQ(limit_at("0"), 1);
  for (const char* text : {"-1", "1001", "nan", "inf", "1e400", "%", "5%%", "5 %", "five"}) {
    EXPECT_THROW(limit_at(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace autotune::cli
