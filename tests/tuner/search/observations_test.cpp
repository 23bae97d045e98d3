// SPDX-License-Identifier: Apache-2.0
// Evaluations as training data of a surrogate.
#include "tuner/search/observations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace autotune {
namespace {

TEST(Observations, SlowOnesAreClippedAndFailuresGetTheMedian) {
  Observations observations;
  for (std::size_t i = 0; i < 5; ++i) {
    observations.add({i, Outcome::ok, std::exp(static_cast<double>(i * i))});
  }
  observations.add({9, Outcome::crash, std::nullopt});
  observations.add({9, Outcome::ok, 1.0});  // a repetition
  EXPECT_EQ(observations.size(), 6u);
  EXPECT_EQ(observations.valid(), 5u);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5};
  const Targets targets = targets_of(observations, all);
  EXPECT_DOUBLE_EQ(targets.values[3], targets.values[4]);  // 9 and 16 both clipped to 9
  EXPECT_DOUBLE_EQ(targets.values[5], targets.values[2]);
  EXPECT_NEAR(targets.values.mean(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(targets.best, targets.values[0]);
}

TEST(Observations, TheLowerBoundOfAPrunedOneCountsButIsNeverTheBest) {
  Observations observations;
  observations.add({0, Outcome::ok, 2.0});
  observations.add({1, Outcome::pruned, 1.0});
  observations.add({2, Outcome::pruned, std::nullopt});
  EXPECT_EQ(observations.valid(), 2u);
  EXPECT_DOUBLE_EQ(observations.best(), std::log(2.0));
}

TEST(Observations, FastestComesFirstAndTiesGoToTheLowestIndex) {
  Observations observations;
  observations.add({7, Outcome::ok, 2.0});
  observations.add({1, Outcome::crash, std::nullopt});
  observations.add({5, Outcome::ok, 1.0});
  observations.add({3, Outcome::ok, 2.0});
  EXPECT_EQ(observations.fastest(), (std::vector<std::size_t>{2, 3, 0}));
}

TEST(Observations, TargetsOfFailuresAloneAreZero) {
  Observations observations;
  observations.add({0, Outcome::crash, std::nullopt});
  observations.add({1, Outcome::crash, std::nullopt});
  const std::vector<std::size_t> all = {0, 1};
  EXPECT_TRUE(targets_of(observations, all).values.isZero());
}

}  // namespace
}  // namespace autotune
