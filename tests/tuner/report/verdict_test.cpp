// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/verdict.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/report/counted.hpp"
#include "tuner/report/problem_section.hpp"

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

TEST(Failures, AValueThatIsRareElsewhereIsWhatTheyHaveInCommon) {
  std::vector<db::TrialRow> trials;
  for (int i = 0; i < 3; ++i) trials.push_back(failed("BM=8 STAGES=4", "no memory"));
  for (int i = 0; i < 9; ++i) trials.push_back(trial("BM=8 STAGES=2", 1e3));
  const auto failures = failures_of(trials);
  ASSERT_EQ(failures.size(), 1u);
  ASSERT_EQ(failures[0].shared.size(), 1u);  // all have BM=8
  EXPECT_EQ(failures[0].shared[0].parameter, "STAGES");
  EXPECT_EQ(failures[0].shared[0].value, "4");
  EXPECT_DOUBLE_EQ(failures[0].shared[0].share, 1);
  EXPECT_DOUBLE_EQ(failures[0].shared[0].lift, 4);
}

Finalist finalist(const std::string& role, const CounterValues& counters) {
  Finalist one{role, "BM=64", counters, "driver 580.82", "2026-03-01T12:30:00.000Z", {}};
  one.expected.occupancy = 0.5;
  return one;
}

std::string table_of(std::vector<Finalist> finalists) {
  ReportedProblem one = problem(512, {});
  one.finalists = std::move(finalists);
  return counters_table(one);
}

TEST(CountersTable, FiguresStandBesideWhatWasExpected) {
  const std::string html = table_of({finalist("best", {{"achieved_occupancy", 0.25}})});
  EXPECT_THAT(html, HasSubstr("<td>25.0 % achieved</td><td>50.0 % theoretical</td>"));
  EXPECT_THAT(html, HasSubstr("driver 580.82, 2026-03-01T12:30 UTC"));
  EXPECT_THAT(html, HasSubstr("Not counted: instructions, issue slots, FLOPs, tensor cores"));
}

TEST(CountersTable, WhereNothingWasCountedItSaysHowToCount) {
  EXPECT_THAT(table_of({finalist("best", {})}), HasSubstr("autotune explain --counters"));
  EXPECT_EQ(table_of({}), "");
}

TEST(CountersTable, HostileTextsStayTexts) {
  CounterValues counters = counted_sample();
  counters["stall_<img src=x>"] = 9;
  Finalist one = finalist("tie", counters);
  one.configuration = one.environment = kHostile;
  EXPECT_THAT(table_of({one}), Not(HasSubstr("<img")));
}

CountedLine line(const std::string& name, const std::string& figures, const Expected& expected) {
  for (const CountedLine& one : counted_lines(counter_values(figures), expected)) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << "there is no line " << name;
  return {};
}

TEST(Counted, OccupancyStandsBesideTheTheoreticalOne) {
  Expected expected;
  expected.occupancy = 1;
  const CountedLine one = line("occupancy", "achieved_occupancy=0.651", expected);
  EXPECT_EQ(one.counted, "65.1 % achieved");
  EXPECT_EQ(one.expected, "100.0 % theoretical");
}

TEST(Counted, RatesAreThoseOfTheMeasuredTime) {
  Expected expected;
  expected.seconds = 1e-3;
  EXPECT_EQ(line("instructions", "instructions=2e9 instructions_per_cycle=1.5", expected).counted,
            "2 G of warps, 2000 GIPS, 1.50 a cycle and SM");
  expected.bytes = 2048;
  const CountedLine dram =
      line("DRAM", "dram_read_bytes=3000000 dram_write_bytes=1000000", expected);
  EXPECT_EQ(dram.counted, "2.861 MiB read, 976.6 KiB written, 4.000 GB/s");
  EXPECT_EQ(dram.expected, "2.000 KiB if each element moves once");
}

TEST(Counted, LoadsStandBesideTheStaticAnalysis) {
  Expected expected;
  expected.accesses = {{"k", "load a[i]", {8, 32, 1024, 1024}},
                       {"k", "load b[i]", {8, 64, 1024, 2048}},
                       {"k", "store c[i]", {8, 32, 1024, 1024}}};
  const CountedLine loads =
      line("global loads", "load_requests=16 load_sectors=96 load_efficiency=0.6667", expected);
  EXPECT_EQ(loads.counted, "16 requests, 96 sectors of 32 bytes, 66.7 % of them used");
  EXPECT_EQ(loads.expected, "16 requests, 96 transactions, 66.7 % used");
}

TEST(Counted, WithoutRequestsNoShareIsUsed) {
  EXPECT_EQ(line("global loads", "load_requests=0 load_sectors=0 load_efficiency=0", {}).counted,
            "none");
}

TEST(Counted, IntensityComesFromCountedFlopsAndBytes) {
  Expected expected;
  expected.flops = 1000;
  expected.l2_bytes = 100;
  const std::string flops = "flops_f32=1000 tensor_operations=200 l2_bytes=300 dram_read_bytes=";
  const CountedLine one = line("intensity", flops + "100 dram_write_bytes=20", expected);
  EXPECT_EQ(one.counted, "4 FLOPs a byte of L2, 10 of DRAM");
  EXPECT_EQ(one.expected, "10 a byte of L2 by the model");
  EXPECT_EQ(line("intensity", flops + "0 dram_write_bytes=0", expected).counted,
            "4 FLOPs a byte of L2");
}

TEST(Counted, TextsThatAreNoNumbersAreLeftOut) {
  EXPECT_THAT(counter_values("garbage a= b=x c=1e999 d=nan e=-inf =3 f=0x"), IsEmpty());
  EXPECT_EQ(counter_values("a=1.5  b=-2").size(), 2U);
}

TEST(Counted, HugeFiguresAreShownWithoutOverflow) {
  EXPECT_NE(line("L2", "l2_bytes=1e300 l2_hit_rate=1", {}).counted, "");
  EXPECT_NE(line("L2", "l2_bytes=-1e300 l2_hit_rate=1", {}).counted, "");
}

TEST(Counted, TheLargestStallsComeFirst) {
  EXPECT_EQ(
      line("stalls", "stall_wait=1 stall_selected=9 stall_barrier=2 stall_drain=0", {}).counted,
      "barrier 2.00, wait 1.00 (warps that wait, per issue)");
}

}  // namespace
}  // namespace autotune::report
