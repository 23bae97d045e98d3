// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/cover.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace autotune {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kUnreached = std::numeric_limits<double>::infinity();

/// Rows are candidates, columns problems.
const std::vector<std::vector<double>> kRatios{
    {1, 1.5, 4},         // best at the first
    {1.2, 1, 2},         // at the second
    {kUnreached, 3, 1},  // at the third
};

TEST(TradeOff, FewerConfigurationsLoseMore) {
  const std::vector<TradeOff> curve = trade_off(kRatios, 1.03);
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_THAT(curve[0].chosen, ElementsAre(1u));
  EXPECT_DOUBLE_EQ(curve[0].worst, 2);
  EXPECT_NEAR(curve[0].mean, std::cbrt(1.2 * 2), 1e-12);
  EXPECT_THAT(curve[1].chosen, ElementsAre(1u, 2u));
  EXPECT_DOUBLE_EQ(curve[1].worst, 1.2);
  EXPECT_THAT(curve[2].chosen, ElementsAre(0u, 1u, 2u));
  EXPECT_DOUBLE_EQ(curve[2].worst, 1);
}

TEST(TradeOff, EndsWithTheFewestWithinTheLimit) {
  const std::vector<TradeOff> curve = trade_off(kRatios, 1.25);
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_THAT(curve.back().chosen, ElementsAre(1u, 2u));
}

TEST(TradeOff, IsEmptyIfAProblemIsUnserved) {
  const std::vector<std::vector<double>> ratios{{1, kUnreached}, {1.1, kUnreached}};
  EXPECT_THAT(trade_off(ratios, 1.05), IsEmpty());
  EXPECT_THAT(trade_off({}, 1.05), IsEmpty());
}

TEST(TradeOff, OmitsNumbersThatLeaveAProblemUnserved) {
  const std::vector<std::vector<double>> ratios{{1, kUnreached}, {kUnreached, 1}};
  ASSERT_EQ(trade_off(ratios, 1.05).size(), 1u);
  EXPECT_THAT(trade_off(ratios, 1.05)[0].chosen, ElementsAre(0u, 1u));
}

TEST(TradeOff, TheLeastRatioIsThatOfTheFastestChosen) {
  const std::vector<std::size_t> chosen{0, 1};
  EXPECT_THAT(least_ratios(kRatios, chosen), ElementsAre(DoubleEq(1), DoubleEq(1), DoubleEq(2)));
}

constexpr double kNever = std::numeric_limits<double>::infinity();
using Ratios = std::vector<std::vector<double>>;

TEST(Cover, AmongEquallyUsefulOnesTheFasterIsChosen) {
  EXPECT_THAT(smallest_cover(Ratios{{1.04, 1.04}, {1.01, 1.02}}, 1.05).chosen, ElementsAre(1));
}

TEST(Cover, BranchAndBoundImprovesOnGreedy) {
  // Greedy takes the candidate of 4 first, and needs 3; the other two serve all 6.
  const double x = 1.0, o = 2.0;
  const Ratios ratios{{x, x, o, x, x, o}, {x, x, x, o, o, o}, {o, o, o, x, x, x}};
  const Cover cover = smallest_cover(ratios, 1.05);
  EXPECT_THAT(cover.chosen, ElementsAre(1, 2));
  EXPECT_TRUE(cover.is_least);
}

TEST(Cover, ListsProblemsThatNoCandidateServes) {
  const Cover cover = smallest_cover(Ratios{{1.0, kNever}, {2.0, kNever}}, 1.05);
  EXPECT_THAT(cover.chosen, ElementsAre(0));
  EXPECT_THAT(cover.uncovered, ElementsAre(1));
  EXPECT_THAT(smallest_cover(Ratios{}, 1.05).chosen, IsEmpty());
}

}  // namespace
}  // namespace autotune
