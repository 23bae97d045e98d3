// SPDX-License-Identifier: Apache-2.0
#include "tests/db/sample.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/report/sample.hpp"
#include "tuner/report/page.hpp"
#include "tuner/report/problem_section.hpp"

namespace autotune::report {
namespace {

TEST(Html, WhateverATextHoldsItStaysText) {
  EXPECT_EQ(html_text("<b a=\"1\" b='2'>&"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
  EXPECT_EQ(html_text("\x1b[31m"), "\\u001b[31m");
  EXPECT_EQ(html_text("\xff"), "\xEF\xBF\xBD");
}

TEST(Elapsed, TheTimeBetweenSessionsDoesNotCount) {
  std::vector<db::TrialRow> trials{trial("A=1", 1, 0), trial("A=2", 1, 2), trial("A=3", 1, 3600),
                                   trial("A=4", 1, 3603)};
  trials[2].session = trials[3].session = "another";
  EXPECT_THAT(elapsed_of(trials), ElementsAre(0, 2, 2, 5));
}

TEST(Elapsed, ATrialTookFromTheOneBeforeItToItself) {
  std::vector<db::TrialRow> trials{trial("A=1", 1, 0), trial("A=2", 1, 2), trial("A=3", 1, 3)};
  trials[1].outcome = "pruned";
  trials[2].stage = "playoff";
  const auto spent = spent_on(trials);
  ASSERT_EQ(spent.size(), 3u);
  EXPECT_EQ(spent[0].outcome, "pruned");
  EXPECT_DOUBLE_EQ(spent[0].elapsed_seconds, 2);
  EXPECT_DOUBLE_EQ(spent[0].compile_seconds, 0.5);
  EXPECT_EQ(spent[1].stage, "playoff");
  EXPECT_DOUBLE_EQ(spent[1].compile_seconds, 0);  // it was compiled for the search
}

class Finalists : public testing::Test {
 protected:
  Finalists() {
    db::TrialRow row = sample.trial("BM=64", 1000);
    row.occupancy = 0.75;
    store.append(std::vector{row, sample.trial("BM=32", 3000), sample.trial("BM=128", 1002)});
    db::DecisionRow decision = sample.decision("BM=64", 1000);
    decision.default_configuration = "BM=32";
    decision.default_ns = 3000;
    decision.ties = "BM=128";
    store.add_decision(decision);
  }
  std::vector<Finalist> found() {
    const auto none = [](const std::string&) -> const Target* { return nullptr; };
    return collect(store, store.tuned({}), none).at(0).finalists;
  }
  void count(const std::string& configuration, const std::string& figures) {
    db::add_counters(store, {"", sample.key, configuration, figures, "driver 580.82",
                             "2026-03-01T12:30:00.000Z"});
  }

  db::TemporaryFolder folder;
  db::TunedStore store{folder / "tuned.db"};
  db::Sample sample{store};
};

TEST_F(Finalists, AreTheBestTheDefaultAndTiesWithTheirTimes) {
  const std::vector<Finalist> all = found();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].role, "best");
  EXPECT_EQ(all[1].role, "default");
  EXPECT_EQ(all[2].role, "tie");
  EXPECT_DOUBLE_EQ(all[0].expected.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(all[1].expected.seconds, 3e-6);
  EXPECT_DOUBLE_EQ(all[2].expected.seconds, 1.002e-6);
  EXPECT_EQ(all[0].expected.occupancy, 0.75);
  EXPECT_TRUE(all[0].counters.empty());
}

TEST_F(Finalists, HaveTheirCounters) {
  count("BM=64", "instructions=4096 l2_bytes=10");
  count("BM=7", "instructions=1");
  const std::vector<Finalist> all = found();
  EXPECT_EQ(all[0].counters.at("instructions"), 4096);
  EXPECT_EQ(all[0].environment, "driver 580.82");
  EXPECT_TRUE(all[1].counters.empty());
}

const Target* no_target(const std::string&) { return nullptr; }

class Collect : public testing::Test {
 protected:
  std::vector<ReportedProblem> collected() { return collect(store, store.tuned({}), no_target); }
  /// The best of the sample's problem under another policy, without trials.
  void decide(const std::string& policy, double ns) {
    db::DecisionRow row;
    row.session = sample.session;
    row.key = sample.key;
    row.key.policy = policy;
    row.configuration = "BM=64";
    row.median_ns = ns;
    row.created_at = "2026-03-01T13:00:00.000000Z";
    row.verified = true;
    store.add_decision(row);
  }

  db::TemporaryFolder folder;
  db::TunedStore store{folder / "tuned.db"};
  db::Sample sample{store};
};

TEST_F(Collect, AProblemOfNoKnownTargetHasItsStoredRate) {
  db::TrialRow row = sample.trial("BM=64", 1000);
  row.gflops = 5;
  store.append(std::vector{row});
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].side, 512);
  EXPECT_DOUBLE_EQ(problems[0].work.flops, 5000);
  EXPECT_EQ(problems[0].trials.size(), 1u);
  ASSERT_TRUE(problems[0].roofs);
  EXPECT_GT(problems[0].roofs->flops_per_second, 6e13);
}

TEST_F(Collect, AContextWithoutTrialsIsToldBesideTheOneThatWasSearched) {
  store.append(std::vector{sample.trial("BM=64", 1000)});
  decide("l2=hot launch=graph context=alone", 3000);
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  ASSERT_EQ(problems[0].contexts.size(), 1u);
  EXPECT_EQ(problems[0].contexts[0].context, "alone");
  EXPECT_DOUBLE_EQ(problems[0].contexts[0].seconds, 3e-6);
}

TEST_F(Collect, ContextsOfWhichNoneWasSearchedAreOneProblem) {
  decide("l2=hot launch=graph context=alone", 3000);
  decide("l2=hot launch=graph", 2000);
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].contexts.size(), 1u);
}

TEST_F(Collect, ACpuInTheSameDatabaseIsCompared) {
  store.append(std::vector{sample.trial("BM=64", 1000)});
  db::TrialRow slow = sample.trial("BM=64", 50000);
  slow.key.device = store.add_device({"", "some CPU", "host", "", 0, 8, 0, 0, ""});
  store.append(std::vector{slow});
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_DOUBLE_EQ(problems[0].cpu_seconds.value_or(0), 5e-5);
  EXPECT_FALSE(problems[1].cpu_seconds);
}

/// A target of the sample's name. Its manifest may have changed since the problem was tuned.
Target changed(std::vector<std::string> sizes) {
  Target target;
  target.name = "gemm";
  target.sizes = std::move(sizes);
  target.parameters = {{"BM", {32, 64, 128}, {}, false}};
  target.default_configuration = {{"BM", 32}};
  KernelSpec kernel;
  kernel.entry = "gemm";
  kernel.grid = {Expression::parse("64")};
  kernel.block = {Expression::parse("BM")};
  target.kernels = {kernel};
  target.flops = target.bytes = Expression::parse("1000000");
  return target;
}

TEST_F(Collect, SizesThatTheManifestGainedOrLostSinceDoNotMatter) {
  db::TrialRow row = sample.trial("BM=64", 1000);
  row.gflops = 5;
  store.append(std::vector{row});
  const auto intensities = [&](const std::vector<std::string>& sizes) {
    const Target target = changed(sizes);
    const auto problems =
        collect(store, store.tuned({}), [&](const std::string&) { return &target; });
    EXPECT_EQ(problems.at(0).finalists.size(), 1u);
    return problems.at(0).intensity.size();
  };
  EXPECT_EQ(intensities({"M", "N", "K"}), 1u);
  EXPECT_EQ(intensities({"K"}), 1u);
  EXPECT_EQ(intensities({"M", "N", "K", "BATCH"}), 0u) << "it is not known";
}

std::string page_of(std::vector<ReportedProblem> problems) {
  Report report;
  report.problems = std::move(problems);
  report.database = "tuned.db";
  report.tool_version = "0.1.0";
  report.written_at = "2026-03-01T12:00:00.000000Z";
  std::ostringstream out;
  write_page(report, out);
  return out.str();
}

TEST(Page, TablesSayWhatPlotsShow) {
  const std::string page =
      page_of({problem(512, {trial("BM=8 BN=4", 1e6), trial("BM=16 BN=4", 1.5e6),
                             failed("BM=32 BN=4", "too much <shared> memory")})});
  EXPECT_THAT(page, HasSubstr("<title>gemm on NVIDIA H200</title>"));
  EXPECT_THAT(page, HasSubstr(">1.000 ms</td>"));
  EXPECT_THAT(page, HasSubstr(">50.0 % of FMA</td>"));
  EXPECT_THAT(page, HasSubstr("<td>BM=16</td>"));  // a loser and how it differs
  EXPECT_THAT(page, HasSubstr("too much &lt;shared&gt; memory"));
}

TEST(Page, ThePolicyColumnHasWhatDiffers) {
  ReportedProblem between = problem(512, {trial("BM=8", 1e6)}), chain = between;
  EXPECT_THAT(page_of({between, chain}), Not(HasSubstr(">policy</th>")));
  between.entry.best.key.policy += " context=between";
  const std::string page = page_of({between, chain});
  EXPECT_THAT(page, HasSubstr(">context=between</td>"));
  EXPECT_THAT(page, HasSubstr(">context=chain</td>"));
}

TEST(Page, NothingIsLoadedFromElsewhere) {
  const std::string page = page_of({problem(512, {trial("BM=8", 1e6)})});
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(Page, HostileTextsStayTexts) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x onerror='x'>\"\x1b\x01";
  const std::string value = "A=</script><script>alert(1)</script>";  // is stored without blanks
  ReportedProblem one = problem(512, {trial(value, 1e6), failed("A=1", hostile)});
  one.name = one.entry.device.name = one.entry.kernel.target = hostile;
  one.entry.session.command = one.entry.session.environment = hostile;
  one.entry.best.configuration = one.entry.best.ties = value;
  one.best_text = one.default_text = one.ties_text = value;
  one.entry.best.baseline = {hostile, hostile, 1e6, 1e6, 1e6, false};
  const std::string page = page_of({one, one});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
}

/// Beside what is the same in every report.
TEST(Page, TenThousandTrialsOfSixteenParametersFitInOneAndAHalfMegabytes) {
  const std::size_t fixed = page_of({problem(512, {trial("A=1", 1e6)})}).size();
  std::vector<ReportedProblem> problems;
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (int p = 1; p <= 5; ++p) {
    std::vector<db::TrialRow> trials;
    for (int i = 0; i < 2000; ++i) {
      std::string text;
      for (int n = 0; n < 16; ++n) text += format("{}P{}={}", n ? " " : "", n, 1 << random(8));
      db::TrialRow row = trial(text, 1e6 + static_cast<double>(random(1'000'000'000)) / 100, i);
      row.predicted_ns = *row.median_ns * 0.9;
      row.registers = 32 + static_cast<std::int64_t>(random(200));
      row.shared_bytes = static_cast<std::int64_t>(1024 * random(200));
      row.occupancy = static_cast<double>(random(32)) / 32;
      row.compile_seconds = static_cast<double>(random(1000000)) * 1e-6;
      trials.push_back(std::move(row));
    }
    problems.push_back(problem(p * 64, std::move(trials)));
  }
  EXPECT_LT(page_of(std::move(problems)).size(), fixed + 1'500'000);
}

TEST(ReportColumn, EachTextIsListedOnce) {
  const Json column = text_column("name", {"b", std::nullopt, "a", "b"});
  EXPECT_EQ(column["values"], (Json{"b", nullptr, "a"}));
  EXPECT_EQ(column["cells"], (Json{0, 1, 2, 0}));
}

TEST(ReportColumn, ANumberHasTheNearestFiveDigits) {
  const Json cells = number_column("ns", {0.999999, 1173.835291582, 0.0})["cells"];
  EXPECT_EQ(cells.dump(), "[1.0,1173.8,0.0]");
}

TEST(ReportColumn, WhatIsNoFigureIsNull) {
  const Json cells = number_column("ns", {std::nullopt, -1.0, INFINITY, NAN})["cells"];
  EXPECT_EQ(cells.dump(), "[null,null,null,null]");
}

// The page as a person uses it, in a browser where there is one.

class PageInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (autotune::testing::browser().empty()) GTEST_SKIP() << autotune::testing::kNoBrowser;
  }
  /// What a driver saw, which had no errors.
  Json seen(const char* driver = "tests/tuner/report/page_driver.js") const {
    std::ostringstream page;
    write_page(report, page);
    const db::TemporaryFolder folder;
    const auto file = folder.write("page.html", autotune::testing::driven(page.str(), driver));
    Json seen = autotune::testing::seen_at("file://" + file.string());
    EXPECT_TRUE(seen.contains("errors") && seen["errors"].empty()) << seen;
    return seen;
  }

  Report report;
};

TEST_F(PageInABrowser, ManyProblemsComeInPagesWithAFilter) {
  for (int i = 0; i < 30; ++i) report.problems.push_back(searched(1000 + i));
  Json seen = this->seen();
  EXPECT_EQ(seen["rows"], 25);
  EXPECT_EQ(seen["found"], 1);
  EXPECT_EQ(seen["again"], 25);
}

TEST_F(PageInABrowser, ShowsEveryPlotAndFollowsFiltersBrushesAndChoices) {
  report.problems = {searched(256), searched(512)};
  Json seen = this->seen();
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

TEST_F(PageInABrowser, ShowsASearchInWhichNothingIsCorrect) {
  report.problems = {problem(256, {failed("BM=32", kHostile), failed("BM=64", kHostile)})};
  db::BestRow& best = report.problems[0].entry.best;
  const db::ProblemKey key = best.key;
  best = {};
  best.key = key;
  Json seen = this->seen("tests/tuner/report/failed_driver.js");
  EXPECT_EQ(seen["sentence"], "No correct configuration among 2 trials.");
  EXPECT_EQ(seen["shown"], "2 of 2 trials");
  EXPECT_EQ(seen["plots"], "none") << "there is no time to plot";
}

TEST_F(PageInABrowser, ManyDotsArePaintedIntoTheirDrawing) {
  report.problems = {searched(256, 6000)};
  Json seen = this->seen();
  EXPECT_EQ(seen["painted"], 2);  // predictions and times
  EXPECT_FALSE(seen["plots"].contains("rate")) << "one size makes no curve";
}

}  // namespace
}  // namespace autotune::report
