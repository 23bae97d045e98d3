// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/recorded_trials.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace autotune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

db::TrialRow row(const std::string& configuration, double ns, const std::string& stage = "search") {
  db::TrialRow row;
  row.configuration = configuration;
  row.stage = stage;
  row.median_ns = ns;
  row.samples = 3;
  row.verified = true;
  row.created_at = "2026-11-22T14:34:21.102791Z";
  return row;
}

TEST(RecordedTrials, AConfigurationHasItsLatestResult) {
  const RecordedResults recorded = recorded_trials(
      {row("B=64 M=near", 2000), row("B=32 M=near", 4000), row("B=64 M=near", 1000)});
  ASSERT_EQ(recorded.results.size(), 2u);
  EXPECT_THAT(recorded.results[0].values, ElementsAre(32, "near"));
  EXPECT_DOUBLE_EQ(*recorded.results[1].seconds, 1e-6);
  EXPECT_EQ(recorded.results[1].samples, 3);
  ASSERT_EQ(recorded.parameters.size(), 2u);
  EXPECT_EQ(recorded.parameters[0].name, "B");
  EXPECT_THAT(recorded.parameters[0].values, ElementsAre(32, 64));
}

TEST(RecordedTrials, TimesOfDayAreThoseOfPython) {
  EXPECT_EQ(recorded_trials({row("B=1", 1)}).results[0].timestamp,
            "2026-11-22 14:34:21.102791+00:00");
}

TEST(RecordedTrials, OtherStagesAndEarlierParametersAreLeftOut) {
  const RecordedResults recorded = recorded_trials(
      {row("B=1 OLD=2", 10), row("B=1", 10), row("B=2", 10, "playoff"), row("B=4", 10)});
  EXPECT_EQ(recorded.results.size(), 2u);
  EXPECT_THAT(recorded.parameters[0].values, ElementsAre(1, 4));
  EXPECT_THAT(recorded_trials({}).results, IsEmpty());
  EXPECT_THAT(recorded_trials({row("B=1", 10, "audit")}).parameters, IsEmpty());
}

TEST(RecordedTrials, AFailureHasNoTime) {
  db::TrialRow failed;
  failed.configuration = "B=1";
  failed.outcome = "compile_error";
  const RecordedResults recorded = recorded_trials({failed});
  EXPECT_EQ(recorded.results[0].outcome, Outcome::compile_error);
  EXPECT_FALSE(recorded.results[0].seconds);
}

}  // namespace
}  // namespace autotune
