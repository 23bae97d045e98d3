// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/problem_section.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/report/counted.hpp"

namespace autotune::report {
namespace {

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

TEST(Failures, TwoTrialsHaveNothingInCommon) {
  const auto failures = failures_of({failed("A=1", "no"), failed("A=1", "no"), trial("A=2", 1)});
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_TRUE(failures[0].shared.empty());
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

TEST(CountersTable, OneSentenceSaysWhatWasNotCounted) {
  const std::string html =
      table_of({finalist("best", counted_sample()), finalist("default", {}), finalist("tie", {})});
  EXPECT_THAT(html, HasSubstr("<p>Not counted: default; tie BM=64.</p>"));
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

TEST(Counted, WhatWasNotCountedIsEmpty) {
  for (const CountedLine& one : counted_lines({}, {})) EXPECT_EQ(one.counted, "") << one.name;
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
