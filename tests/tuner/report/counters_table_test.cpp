// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/counters_table.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

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

}  // namespace
}  // namespace autotune::report
