// SPDX-License-Identifier: Apache-2.0
// The page as a person uses it, in a browser where there is one.
#include "tests/support/browser.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/report/page.hpp"

namespace autotune::report {
namespace {

/// What page_driver.js saw.
Json seen_of(const Report& report) {
  std::ostringstream page;
  write_page(report, page);
  const db::TemporaryFolder folder;
  std::ofstream(folder / "page.html")
      << autotune::testing::driven(page.str(), "tests/tuner/report/page_driver.js");
  return autotune::testing::seen_at("file://" + (folder / "page.html").string());
}

TEST(PageInABrowser, ManyProblemsComeInPagesWithAFilter) {
  if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  Report report;
  for (int i = 0; i < 30; ++i) report.problems.push_back(searched(1000 + i));
  const Json seen = seen_of(report);
  ASSERT_TRUE(seen.contains("errors")) << seen;
  EXPECT_THAT(seen["errors"], IsEmpty());
  EXPECT_EQ(seen["rows"], 25);
  EXPECT_EQ(seen["found"], 1);
  EXPECT_EQ(seen["again"], 25);
}

TEST(PageInABrowser, ShowsEveryPlotAndFollowsFiltersBrushesAndChoices) {
  if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  Report report;
  report.problems = {searched(256), searched(512)};
  const Json seen = seen_of(report);
  ASSERT_TRUE(seen.contains("errors")) << seen;
  EXPECT_THAT(seen["errors"], IsEmpty());
  EXPECT_EQ(seen["plots"].size(), 11U);
  for (const auto& [plot, marks] : seen["plots"].items()) EXPECT_GT(marks, 0) << plot;
  EXPECT_EQ(seen["all"], "32 of 32 trials");
  EXPECT_EQ(seen["failures"], 1);
  EXPECT_EQ(seen["dots"], 31);
  EXPECT_EQ(seen["counted"], 1);
  EXPECT_EQ(seen["filtered"], "21 of 32 trials");  // without the 11 of BM=64
  EXPECT_EQ(seen["filteredDots"], 20);             // the failure has another BM
  EXPECT_EQ(seen["unfiltered"], "32 of 32 trials");
  EXPECT_EQ(seen["brushed"], "10 of 32 trials");  // the upper part of the axis: BM=128
  EXPECT_GT(seen["linesOut"], 0);
  EXPECT_EQ(seen["overSeconds"], true);
  EXPECT_EQ(seen["csv"], 11);  // a head and what is brushed
  EXPECT_THAT(seen["ascending"], ElementsAre("3.072 us", "6.144 us"));
  EXPECT_THAT(seen["descending"], ElementsAre("6.144 us", "3.072 us"));
  EXPECT_THAT(seen["shownArticles"], ElementsAre("0"));
  EXPECT_EQ(seen["afterChoice"], "32 of 32 trials");
  EXPECT_EQ(seen["narrow"], 258);  // four axes stay 46 apart, with margins of 44 and 76
  EXPECT_THAT(seen["tries"], ElementsAre(1, 3, 5));  // of five, never more than five
  EXPECT_EQ(seen["images"], 0);                      // the message's <img> stays text
}

TEST(PageInABrowser, ShowsASearchInWhichNothingIsCorrect) {
  if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  Report report;
  report.problems = {problem(256, {failed("BM=32", kHostile), failed("BM=64", kHostile)})};
  db::BestRow& best = report.problems[0].entry.best;
  const db::ProblemKey key = best.key;
  best = {};
  best.key = key;
  std::ostringstream page;
  write_page(report, page);
  const db::TemporaryFolder folder;
  std::ofstream(folder / "page.html")
      << autotune::testing::driven(page.str(), "tests/tuner/report/failed_driver.js");
  const Json seen = autotune::testing::seen_at("file://" + (folder / "page.html").string());
  ASSERT_TRUE(seen.contains("errors")) << seen;
  EXPECT_THAT(seen["errors"], IsEmpty());
  EXPECT_EQ(seen["sentence"], "No correct configuration among 2 trials.");
  EXPECT_EQ(seen["shown"], "2 of 2 trials");
  EXPECT_EQ(seen["plots"], "none") << "there is no time to plot";
}

TEST(PageInABrowser, ManyDotsArePaintedIntoTheirDrawing) {
  if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  Report report;
  report.problems = {searched(256, 6000)};
  const Json seen = seen_of(report);
  ASSERT_TRUE(seen.contains("errors")) << seen;
  EXPECT_THAT(seen["errors"], IsEmpty());
  EXPECT_EQ(seen["painted"], 2);  // predictions and times
  EXPECT_FALSE(seen["plots"].contains("rate")) << "one size makes no curve";
}

}  // namespace
}  // namespace autotune::report
