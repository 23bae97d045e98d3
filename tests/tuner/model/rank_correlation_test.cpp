// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/rank_correlation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace autotune {
namespace {

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  const std::array measured{1.0, 2.0, 3.0, 100.0};
  EXPECT_DOUBLE_EQ(spearman(std::array{5.0, 6.0, 7.0, 8.0}, measured), 1);
  EXPECT_DOUBLE_EQ(spearman(std::array{4.0, 3.0, 2.0, 1.0}, measured), -1);
}

TEST(RankCorrelation, TiesHaveTheirMeanRank) {
  // Ranks 0.5 0.5 2 against 0 1 2: covariance 1.5, variances 1.5 and 2.
  EXPECT_DOUBLE_EQ(spearman(std::array{1.0, 1.0, 2.0}, std::array{1.0, 2.0, 3.0}),
                   1.5 / std::sqrt(3.0));
}

TEST(RankCorrelation, OfEqualValuesIsNone) {
  EXPECT_EQ(spearman(std::array{1.0, 1.0, 1.0}, std::array{1.0, 2.0, 3.0}), 0);
}

TEST(RankCorrelation, ANumberThatIsNoneHasAnEnd) {
  const double none = std::nan("");
  spearman(std::array{1.0, none, none}, std::array{none, 2.0, 3.0});
}

TEST(RankCorrelation, TheTopRatioComparesTheBestPredictedWithTheBest) {
  EXPECT_DOUBLE_EQ(top_ratio(std::array{1.0, 2.0, 3.0}, std::array{4.0, 3.0, 2.0}, 2), 1.5);
}

}  // namespace
}  // namespace autotune
