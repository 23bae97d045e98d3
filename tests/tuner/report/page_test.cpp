// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/tuner/report/sample.hpp"

namespace autotune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(page, HasSubstr("<td>context=between</td>"));
  EXPECT_THAT(page, HasSubstr("<td>context=chain</td>"));
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
  one.entry.best.baseline = {hostile, hostile, 1e6, 1e6, 1e6, false};
  const std::string page = page_of({one, one});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
}

TEST(Page, AReportOfAnswersWithoutTrialsIsWritten) {
  EXPECT_THAT(page_of({problem(512, {})}), HasSubstr("<h2>Results</h2>"));
}

/// A tenth of 100,000 trials in 5 MB, beside what is the same in every report.
TEST(Page, TenThousandTrialsOfSixteenParametersFitInHalfAMegabyte) {
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
  EXPECT_LT(page_of(std::move(problems)).size(), fixed + 460'000);
}

}  // namespace
}  // namespace autotune::report
