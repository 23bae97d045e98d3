// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/transfer_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace autotune {
namespace {

TEST(ExpectedTime, IsCorrectedByTheModelsErrorWhereTheConfigurationWasTimed) {
  // 10 us and 12 us by the model, which was 1.5 times and 1.1 times too fast: 15 us and 13.2 us.
  const double a = expected_time(std::log(10), KnownError{std::log(1.5), 0}, 0);
  const double b = expected_time(std::log(12), KnownError{std::log(1.1), 0}, 0);
  EXPECT_NEAR(std::exp(a), 15, 1e-9);
  EXPECT_NEAR(std::exp(b), 13.2, 1e-9);
}

TEST(ExpectedTime, OfAConfigurationThatWasTimedFarAwayIsNearlyThatOfAnUnknownOne) {
  const double unknown = expected_time(std::log(10), std::nullopt, 0.5);
  EXPECT_GT(unknown, std::log(10) + 0.5);
  EXPECT_NEAR(expected_time(std::log(10), KnownError{-1, 10}, 0.5), unknown, 1e-9);
  EXPECT_LT(expected_time(std::log(10), KnownError{0.5, 1}, 0.5), unknown);
}

TEST(TypicalError, IsTheMeanOfTheNearest) {
  const std::vector<KnownError> errors{{1, 0.1}, {2, 0.1}, {9, 12}};
  EXPECT_NEAR(typical_error(errors), 1.5, 1e-6);
  EXPECT_EQ(typical_error({}), 0);
  EXPECT_NEAR(typical_error(std::vector<KnownError>{{9, 100}}), 9, 1e-9);
}

TEST(ExpectedBaselineTime, IsTheRatioOfProblemsThatTakeAsLong) {
  // The library takes twice as long as ours where that takes 2 us, and as long where it takes 50.
  const std::vector<BaselineTime> times{{std::log(2), std::log(4), 2},
                                        {std::log(50), std::log(50), 2}};
  EXPECT_NEAR(std::exp(*expected_baseline_time(times, std::log(2))), 4, 0.01);
  EXPECT_NEAR(std::exp(*expected_baseline_time(times, std::log(60))), 60, 0.5);
  EXPECT_NEAR(std::exp(*expected_baseline_time(times, std::log(1e6))), 1e6, 5e4);
}

TEST(ExpectedBaselineTime, IsOfTheNearestOfProblemsThatTakeAsLong) {
  const std::vector<BaselineTime> times{{0, 1, 0.1}, {0, 2, 6}};
  EXPECT_NEAR(*expected_baseline_time(times, 0), 1, 1e-3);
}

TEST(ExpectedBaselineTime, NeedsATime) { EXPECT_EQ(expected_baseline_time({}, 0), std::nullopt); }

TEST(OwnChoiceTime, IsLongerThanThatOfTheBestCandidateMostOfAllIfShort) {
  const auto ratio = [](double best) { return std::exp(own_choice_time(std::log(best))) / best; };
  EXPECT_NEAR(ratio(100e-6), 1.06, 0.001);
  EXPECT_NEAR(ratio(5e-6), 1.15, 0.001);
  EXPECT_NEAR(ratio(2e-6), 1.62, 0.01);
  EXPECT_NEAR(ratio(1e-6), 1.8, 0.001);
}

TEST(PrefersAlternative, OnlyWithALeadThatGrowsWithTheDistance) {
  EXPECT_FALSE(has_clear_lead(0, -0.04, 0)) << "never for nothing";
  EXPECT_TRUE(has_clear_lead(0, -0.06, 0));
  EXPECT_FALSE(has_clear_lead(0, -0.14, 1));
  EXPECT_TRUE(has_clear_lead(0, -0.16, 1));
  EXPECT_TRUE(has_clear_lead(0, -0.21, 20)) << "the doubt has an end";
  EXPECT_FALSE(has_clear_lead(0, 0.1, 0));
}

}  // namespace
}  // namespace autotune
