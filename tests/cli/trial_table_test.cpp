// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/trial_table.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

db::TrialRow trial(const char* configuration, double median_ns) {
  db::TrialRow row;
  row.configuration = configuration;
  row.outcome = "ok";
  row.median_ns = median_ns;
  return row;
}

std::vector<std::string> sorted(const std::vector<db::TrialRow>& trials, const char* column,
                                std::size_t most = 10) {
  std::vector<std::string> configurations;
  for (const db::TrialRow& row : sorted_trials(trials, column, most)) {
    configurations.push_back(row.configuration);
  }
  return configurations;
}

TEST(TrialTable, ShowsTheLatestTimeOfEachConfigurationThatWorks) {
  db::TrialRow wrong = trial("C=3", 1);
  wrong.outcome = "wrong";
  const std::vector trials{trial("C=1", 30), trial("C=2", 20), trial("C=1", 10), wrong};
  EXPECT_THAT(sorted(trials, "time"), ElementsAre("C=1", "C=2"));
  EXPECT_THAT(sorted(trials, "time", 1), ElementsAre("C=1"));
  EXPECT_TRUE(sorted(trials, "time", 0).empty());
}

TEST(TrialTable, WhatIsUnknownComesLastAndTiesGoByTime) {
  std::vector trials{trial("C=1", 30), trial("C=2", 20), trial("C=3", 10)};
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=3", "C=2", "C=1"));
  trials[0].registers = 40;
  trials[1].registers = 32;
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=2", "C=1", "C=3"));
  trials[0].occupancy = 0.75;
  trials[1].occupancy = 0.5;
  EXPECT_THAT(sorted(trials, "occupancy"), ElementsAre("C=1", "C=2", "C=3"));
}

TEST(TrialTable, AnUnknownColumnIsRefusedWithANearName) {
  try {
    sorted_trials({}, "register", 1);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean registers"));
  }
}

TEST(TrialTable, FiguresThatAreMissingAreDashesAndNull) {
  const Readable readable(nullptr, "N=1", {});
  const std::string text = trials_text({trial("C=1", 2000)}, readable);
  EXPECT_THAT(text, HasSubstr("  2.000 us         -         -          -  C=1\n"));
  const Json json = trials_json({trial("C=1", 2000)});
  EXPECT_EQ(json[0]["config"]["C"], 1);
  EXPECT_EQ(json[0]["median_ns"], 2000);
  EXPECT_TRUE(json[0]["occupancy"].is_null());
}

}  // namespace
}  // namespace autotune::cli
