// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/verdict.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

ReportedProblem against(double baseline_ns) {
  ReportedProblem one = problem(512, {trial("BM=1", 1e6)});
  one.entry.best.baseline = {"cublas",           "sgemm", baseline_ns, 0.99 * baseline_ns,
                             1.01 * baseline_ns, false};
  return one;
}

TEST(Verdict, TheIntervalComesFromTheEndsOfBoth) {
  EXPECT_EQ(sentence_of(against(1.5e6)), "1.50x [1.46, 1.55] faster than cublas.");
  EXPECT_EQ(sentence_of(against(0.5e6)), "2.00x [1.94, 2.06] slower than cublas.");
}

TEST(Verdict, WhatIsFarSlowerKeepsTwoDigits) {
  EXPECT_THAT(verdict_table(Report{{against(3.14e3)}, "", "", ""}),
              HasSubstr("0.0031x <wbr>[0.003, 0.0032]"));
}

TEST(Verdict, IntervalsThatMeetAreNoDifference) {
  EXPECT_EQ(sentence_of(against(1.01e6)), "Not different from cublas: 1.01x [0.98, 1.04].");
}

TEST(Verdict, DefaultTiesAndCpuAreTold) {
  ReportedProblem one = problem(512, {});
  one.entry.best.default_configuration = "BM=2";
  one.entry.best.default_ns = 2e6;
  one.entry.best.ties = "BM=3\nBM=4\n";
  one.cpu_seconds = 0.1;
  EXPECT_EQ(sentence_of(one),
            "2.00x the default; 100.00x the CPU; not different from 2 other configurations.");
  one.entry.best.default_configuration = "BM=1";
  one.entry.best.ties = "BM=3";
  one.cpu_seconds.reset();
  EXPECT_EQ(sentence_of(one),
            "The default configuration itself; not different from 1 other configuration.");
}

TEST(Verdict, WhatPutsAResultInDoubtIsToldInOneColumn) {
  db::BestRow best = problem(512, {}).entry.best;
  best.verified = true;
  best.noise_floor = 0.01;
  best.samples = 20;
  best.low_ns = best.high_ns = best.median_ns;
  EXPECT_EQ(doubt_of(best), "");
  best.noise_floor = 0.12;
  best.samples = 4;
  EXPECT_EQ(doubt_of(best), "noise 12 %, 4 samples");
  best.verified = false;
  EXPECT_EQ(doubt_of(best), "not verified, noise 12 %, 4 samples");
  best.provenance = "predicted";
  EXPECT_EQ(doubt_of(best), "predicted, not measured");
}

TEST(Verdict, TheSummarySaysHowFastHowSureAndWhatNext) {
  Report report;
  report.problems = {against(2e6), against(0.5e6)};
  for (ReportedProblem& one : report.problems) one.entry.best.verified = true;
  report.problems[1].entry.best.noise_floor = 0.2;
  const std::string html = summary(report);
  EXPECT_THAT(
      html, HasSubstr("1.00 times as fast as cublas (geometric mean of 2 problems, slower at 1)"));
  EXPECT_THAT(html, HasSubstr("Yes, except 1 of 2"));
  EXPECT_THAT(html, HasSubstr("<code>autotune query --target "));
  EXPECT_EQ(summary({}), "");
}

TEST(Verdict, BitsThatDifferAreTold) {
  ReportedProblem one = against(1.5e6);
  one.entry.best.repeats = true;
  EXPECT_EQ(sentence_of(one), "1.50x [1.46, 1.55] faster than cublas.");
  one.entry.best.repeats = false;
  EXPECT_EQ(sentence_of(one),
            "1.50x [1.46, 1.55] faster than cublas; bits differ from run to run, each time within "
            "the tolerance.");
}

TEST(Verdict, AProblemWithoutACorrectConfigurationSaysSo) {
  ReportedProblem one = problem(512, {failed("BM=1", "error"), failed("BM=2", "error")});
  one.entry.best.configuration = "";
  one.entry.best.median_ns.reset();
  EXPECT_EQ(sentence_of(one), "No correct configuration among 2 trials.");
  one.trials.push_back(trial("BM=4", 1e6));
  EXPECT_EQ(sentence_of(one), "Not decided yet.");
}

TEST(Verdict, ARateHasTheShareOfItsRoof) {
  ReportedProblem one = problem(512, {});
  EXPECT_DOUBLE_EQ(rate_of(one)->value, 2e12);
  EXPECT_DOUBLE_EQ(*rate_of(one)->share, 0.5);
  one.roofs->tensor_flops_per_second = 1e13;
  EXPECT_DOUBLE_EQ(*rate_of(one)->share, 0.2);
  one.work = {0, 1e9};
  EXPECT_FALSE(rate_of(one)->is_flops);
  EXPECT_DOUBLE_EQ(*rate_of(one)->share, 0.25);
  one.roofs.reset();
  EXPECT_FALSE(rate_of(one)->share);
  one.work = {};
  EXPECT_FALSE(rate_of(one));
}

TEST(Verdict, WhatWasNotMeasuredIsComparedWithNothing) {
  ReportedProblem one = problem(512, {});
  EXPECT_EQ(sentence_of(one), "Compared with nothing.");
  one.entry.best.provenance = "predicted";
  EXPECT_EQ(sentence_of(one), "Predicted by the cost model, not measured.");
  one.entry.best.median_ns.reset();
  EXPECT_EQ(sentence_of(one), "Never timed.");
}

TEST(Portability, AConfigurationHasItsShareOfTheBestElsewhere) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6), trial("A=2", 2e6)}),
                     problem(2, {trial("A=2", 1e6), trial("A=1", 1.04e6)}),
                     problem(3, {trial("A=2", 1e6)})};
  const auto all = portability_of(report);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].configurations, ElementsAre("A=1", "A=2"));
  EXPECT_THAT(all[0].share[0], ElementsAre(1, DoubleEq(1 / 1.04), 0));  // not timed at the third
  EXPECT_THAT(all[0].share[1], ElementsAre(0.5, 1, 1));
  EXPECT_THAT(all[0].cover, ElementsAre(0, 1));
  EXPECT_EQ(all[0].covered, 3u);
}

TEST(Portability, AFailureTakesATimeBack) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6)}),
                     problem(2, {trial("A=2", 1e6), trial("A=1", 1e6), failed("A=1", "no")})};
  EXPECT_EQ(portability_of(report)[0].share[0][1], 0);
}

TEST(Portability, OneProblemHasNoMatrix) {
  Report report;
  report.problems = {problem(1, {trial("A=1", 1e6)}), problem(2, {})};
  EXPECT_TRUE(portability_of(report).empty());
}

}  // namespace
}  // namespace autotune::report
