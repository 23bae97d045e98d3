// SPDX-License-Identifier: Apache-2.0
// The page as a person uses it, in a browser where there is one.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/db/sample.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/json/json.hpp"
#include "tuner/report/page.hpp"

namespace autotune::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kHostile = "</script><img src=x onerror=alert(1)> \"quoted\" & more";

/// 32 trials, the sixth a failure with a hostile message.
ReportedProblem searched(int side) {
  std::vector<db::TrialRow> trials;
  for (int i = 0; i < 32; ++i) {
    const int bm = 32 << i % 3, bn = 8 + i / 3;
    const std::string text =
        format("BM={} BN={} KIND={}", bm, bn, i % 2 == 0 ? "<b>even</b>" : "odd");
    const double ns = side * (10.0 + bm / 16.0 + i / 3.0);
    db::TrialRow row = i == 5 ? failed(text, kHostile) : trial(text, ns, i);
    row.predicted_ns = 0.9 * ns;
    row.registers = 32 + i;
    trials.push_back(row);
  }
  ReportedProblem one = problem(side, std::move(trials));
  one.entry.best.median_ns = side * 12.0;
  one.entry.best.low_ns = one.entry.best.high_ns = std::nullopt;
  one.intensity = std::vector<double>(32, 10);
  one.importance = Importance{0.9, 31, {{"BN", 0.8}, {"BM", 0.4}}};
  return one;
}

/// One that can run without a screen; empty if there is none.
std::string browser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

std::string output_of(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  for (int letter = 0; pipe && (letter = std::fgetc(pipe)) != EOF;) {
    text += static_cast<char>(letter);
  }
  if (pipe) pclose(pipe);
  return text;
}

/// The page with a first script that notes errors, and page_driver.js as its last.
std::string driven(std::string page) {
  std::ifstream file(std::filesystem::path(AUTOTUNE_SOURCE_DIR) /
                     "tests/tuner/report/page_driver.js");
  const std::string driver{std::istreambuf_iterator<char>(file), {}};
  page.insert(page.rfind("</body>"), "<script>" + driver + "</script>");
  page.insert(page.find("<head>") + 6,
              "<script>const errors = [];\n"
              "window.onerror = (message) => { errors.push(message); };\n"
              "console.error = (...words) => { errors.push(words.join(' ')); };</script>");
  return page;
}

/// What page_driver.js saw.
Json seen_of(const Report& report) {
  std::ostringstream page;
  write_page(report, page);
  const db::TemporaryFolder folder;
  std::ofstream(folder / "page.html") << driven(page.str());
  const std::string command = format(
      "timeout 250 {0} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--user-data-dir={1} --window-size=1200,900 --dump-dom file://{2} 2>/dev/null",
      browser(), (folder / "profile").string(), (folder / "page.html").string());
  const std::string text = output_of(command);
  const auto from = text.rfind("SEEN{"), to = text.rfind("}NEES");
  if (from == std::string::npos || to == std::string::npos) return {{"output", text.size()}};
  return Json::parse(text.substr(from + 4, to + 1 - from - 4), nullptr, false);
}

TEST(PageInABrowser, ShowsEveryPlotAndFollowsFiltersBrushesAndChoices) {
  if (browser().empty()) GTEST_SKIP() << "there is no Chromium: scripts/install-dependencies --ci";
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
  EXPECT_EQ(seen["images"], 0);  // the message's <img> stays text
}

}  // namespace
}  // namespace autotune::report
