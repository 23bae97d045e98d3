// SPDX-License-Identifier: Apache-2.0
// A live page in a browser where there is one: what the reader has chosen outlives new content.
#include <atomic>

#include "tests/support/browser.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/report/page.hpp"
#include "tuner/watch/page_server.hpp"

namespace autotune::watch {
namespace {

/// Nothing, then two problems, then three with more trials: each is there for some questions.
std::string content_at(int question) {
  report::Report report;
  if (question < 2) report.notice = "there is no such file";
  if (question >= 2) report.problems = {report::searched(256), report::searched(512)};
  if (question >= 5) {
    report.problems = {report::searched(128, 8), report::searched(256, 40), report::searched(512)};
  }
  return report::page_content(report);
}

TEST(LivePageInABrowser, GrowsAndKeepsWhatTheReaderHasChosen) {
  if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  std::atomic<int> questions = 0;
  const PageServer server(
      0, {[&] {
            const std::string html = content_at(questions++);
            return Content{std::to_string(std::hash<std::string>()(html)), html};
          },
          [](const Content& content) {
            return autotune::testing::driven(report::live_page(content.html, content.version),
                                             "tests/tuner/watch/live_driver.js");
          }});
  const Json seen = autotune::testing::seen_at(server.url(), "--virtual-time-budget=60000");
  ASSERT_TRUE(seen.contains("errors")) << seen;
  EXPECT_THAT(seen["errors"], IsEmpty());
  EXPECT_EQ(seen["notice"], "there is no such file");
  EXPECT_EQ(seen["first"], "M=512 N=512");  // the one searched last
  EXPECT_EQ(seen["chosen"], seen["chosenAfter"]) << seen;
  EXPECT_EQ(seen["chosen"]["problem"], "M=256 N=256");
  EXPECT_EQ(seen["chosen"]["across"], "KIND");
  EXPECT_EQ(seen["shown"],
            "10 of 32 trials");  // BM=128 by the brush
  EXPECT_EQ(seen["shownAfter"], "13 of 40 trials");
  EXPECT_THAT(seen["order"], ElementsAre("6.144 us", "3.072 us"));
  EXPECT_THAT(seen["orderAfter"], ElementsAre("6.144 us", "3.072 us", "1.536 us"));
  EXPECT_EQ(seen["heldWhileSelected"], true);
  EXPECT_EQ(seen["scrollAfter"], seen["scroll"]);
  EXPECT_EQ(seen["focusAfter"], "which");
}

}  // namespace
}  // namespace autotune::watch
