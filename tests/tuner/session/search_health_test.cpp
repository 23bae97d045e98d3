// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_health.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace autotune {
namespace {

constexpr std::size_t kSpace = 1000;

SearchStep timed(double seconds, double predicted) { return {Outcome::ok, seconds, predicted, ""}; }

SearchStep failed(Outcome outcome, const std::string& why) { return {outcome, {}, 1.0, why}; }

/// 20 evaluations, each 5 % faster than the one before and predicted in that order.
std::vector<SearchStep> improving() {
  std::vector<SearchStep> steps;
  for (int i = 0; i < 20; ++i) steps.push_back(timed(1 - 0.05 * i, 2 - 0.05 * i));
  return steps;
}

TEST(SearchHealth, RanksLowerBoundsToo) {
  std::vector<SearchStep> steps = improving();
  steps.push_back({Outcome::pruned, 5.0, 5.0, "screened"});
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_EQ(health.ranked, 21);
  EXPECT_DOUBLE_EQ(health.rank_correlation.value(), 1);
  EXPECT_FALSE(health.is_misled());
}

TEST(SearchHealth, IsMisledByAModelThatTurnsTheOrderRound) {
  std::vector<SearchStep> steps = improving();
  for (SearchStep& step : steps) step.predicted = 1 / *step.predicted;
  EXPECT_FALSE(search_health(steps, kSpace).is_misled()) << "20 do not convict it";
  for (int i = 0; i < 10; ++i) steps.push_back(steps[i]);
  EXPECT_TRUE(search_health(steps, kSpace).is_misled());
  EXPECT_FALSE(search_health(steps, steps.size()).is_misled()) << "everything was tried";
  for (SearchStep& step : steps) step.outcome = Outcome::pruned;
  EXPECT_FALSE(search_health(steps, kSpace).is_misled()) << "lower bounds only";
  steps.resize(7);
  EXPECT_FALSE(search_health(steps, kSpace).rank_correlation) << "too few";
}

TEST(SearchHealth, WithoutAModelThereIsNoRanking) {
  std::vector<SearchStep> steps = improving();
  for (SearchStep& step : steps) step.predicted.reset();
  EXPECT_EQ(search_health(steps, kSpace).ranked, 0);
  EXPECT_FALSE(search_health(steps, kSpace).is_misled());
}

TEST(SearchHealth, TellsTheMainReasonOfFailures) {
  std::vector<SearchStep> steps = improving();
  steps.push_back(failed(Outcome::wrong, "out[0]"));
  for (int kib = 50; kib < 55; ++kib) {
    steps.push_back(failed(Outcome::invalid, std::to_string(kib) + " KiB of shared memory"));
  }
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_EQ(health.failed, 6);
  ASSERT_TRUE(health.main_failure);
  EXPECT_EQ(health.main_failure->outcome, "invalid");
  EXPECT_EQ(health.main_failure->count(), 5);
  EXPECT_TRUE(health.fails_often()) << "6 of 26";
  EXPECT_FALSE(search_health(std::span(steps).first(21), kSpace).fails_often()) << "1 of 21";
}

TEST(SearchHealth, StillImprovesIfTheLastQuarterGained) {
  const std::vector<SearchStep> steps = improving();
  const SearchHealth health = search_health(steps, kSpace);
  EXPECT_NEAR(health.last_gain.value(), 1 - 0.05 / 0.3, 1e-12);  // 1 - 0.05 · 19 over 1 - 0.05 · 14
  EXPECT_TRUE(health.still_improves());
  EXPECT_FALSE(search_health(steps, steps.size()).still_improves()) << "everything was tried";
  EXPECT_FALSE(search_health(std::span(steps).first(12), kSpace).last_gain) << "too few";

  const std::vector<SearchStep> falling(steps.rbegin(), steps.rend());
  EXPECT_EQ(search_health(falling, kSpace).last_gain, 0.0);
}

TEST(SearchHealth, AGainAmongTrialsOfAnEarlierRunIsNone) {
  const std::vector<SearchStep> steps = improving();
  EXPECT_FALSE(search_health(steps, kSpace, 20).last_gain) << "all are of an earlier run";
  EXPECT_NEAR(search_health(steps, kSpace, 19).last_gain.value(), 0.5, 1e-12);  // 0.05 over 0.1
}

TEST(SearchHealth, AFailureIsNoBest) {
  std::vector<SearchStep> steps(20, timed(1, 1));
  steps[18] = {Outcome::wrong, 0.1, 1.0, "out[0]"};
  steps[19] = {Outcome::pruned, 0.1, 1.0, "outrun"};
  EXPECT_EQ(search_health(steps, kSpace).last_gain, 0.0);
}

}  // namespace
}  // namespace autotune
