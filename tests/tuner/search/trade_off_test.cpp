// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/trade_off.hpp"

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

}  // namespace
}  // namespace autotune
