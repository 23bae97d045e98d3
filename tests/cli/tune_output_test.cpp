// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tune_output.hpp"

#include <gmock/gmock.h>

#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/json/json.hpp"

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

End end(const std::vector<TuningReport>& runs, const std::vector<std::string>& words = {}) {
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
  EXPECT_EQ(end({run_of({}, true)}).err,
            "warning: interrupted: every trial is kept; the same command continues from here\n");
  EXPECT_EQ(end({run_of({})}).err, "");
}

TEST(TuneOutput, JsonIsOneDocumentOrOneForEachKindOfDevice) {
  const End one = end({run_of({problem(true)})}, {"--json"});
  EXPECT_EQ(Json::parse(one.out)["target"], "toy");
  const End two = end({run_of({problem(true)}), run_of({problem(true)})}, {"--json"});
  EXPECT_EQ(Json::parse(two.out).size(), 2u);
  EXPECT_TRUE(Json::parse(two.out).is_array());
  EXPECT_EQ(end({run_of({problem(true)})}).out, "") << "problems were printed as they ended";
}

}  // namespace
}  // namespace autotune::cli
