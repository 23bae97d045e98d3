// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/search_health_report.hpp"

#include <gmock/gmock.h>

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// 40 evaluations of 100 configurations; all went well.
SearchHealth good() {
  SearchHealth health;
  health.space = 100;
  health.tried = 40;
  health.ranked = health.timed = 40;
  health.rank_correlation = 0.9;
  health.last_gain = 0.004;
  return health;
}

SearchHealth failing(const char* outcome, const char* message) {
  SearchHealth health = good();
  health.failed = 10;
  health.main_failure = Reason{outcome, message, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  return health;
}

TEST(SearchHealthReport, AGoodSearchNeedsNoAdvice) {
  EXPECT_EQ(lost_text(good()), "");
  EXPECT_EQ(health_text(good()),
            "ranking     0.90, the rank correlation of predicted and measured times of 40 "
            "configurations\n"
            "failures    0 of 40 (0 %)\n"
            "progress    the last quarter of 40 evaluations gained 0.4 %\n");
  EXPECT_EQ(health_text({}), "") << "nothing was tried";
}

TEST(SearchHealthReport, AMisleadingModelIsNamedByExplainOnly) {
  SearchHealth health = good();
  health.rank_correlation = 0.25;
  EXPECT_EQ(lost_text(health), "");
  EXPECT_THAT(health_text(health), HasSubstr("\n  below 0.5: the model misleads the search"));
  EXPECT_EQ(json_of(health)["misled"], true);
}

TEST(SearchHealthReport, FailuresComeWithTheirMainReason) {
  const SearchHealth health = failing("compile_error", "k.cu(3): error: too wide");
  EXPECT_THAT(lost_text(health), HasSubstr("  failures: 10 of 40 (25 %), 9 of them compile_error: "
                                           "k.cu(3): error: too wide; a constraint"));
  const Json json = json_of(health);
  EXPECT_EQ(json["failed"], 10);
  EXPECT_EQ(json["main_failure"]["outcome"], "compile_error");
  EXPECT_EQ(json["main_failure"]["count"], 9);
}

TEST(SearchHealthReport, AWrongResultIsToBeCorrectedNotHidden) {
  for (const std::string& text : {lost_text(failing("wrong", "out[0] is 3, expected 2")),
                                  health_text(failing("wrong", "out[0] is 3, expected 2"))}) {
    EXPECT_THAT(text, HasSubstr("correct the kernel, or rule these configurations out"));
    EXPECT_THAT(text, Not(HasSubstr("saves these evaluations")));
  }
}

TEST(SearchHealthReport, TheNextBudgetIsTwiceThisOneAndAtMostTheSpace) {
  SearchHealth health = good();
  health.last_gain = 0.02;
  EXPECT_THAT(lost_text(health), HasSubstr("by 2.0 % in the last quarter of 40 evaluations: try "
                                           "--budget 80\n"));
  health.space = 60;
  EXPECT_THAT(health_text(health), HasSubstr("still improving at the end: try --budget 60\n"));
  health.space = 40;
  EXPECT_EQ(lost_text(health), "") << "everything was tried";
}

TEST(SearchHealthReport, WhatIsNotKnownIsNull) {
  const Json json = json_of(SearchHealth{});
  for (const char* key : {"rank_correlation", "main_failure", "last_quarter_gain"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
}

}  // namespace
}  // namespace autotune::cli
