// SPDX-License-Identifier: Apache-2.0
// The expected figures are of SciPy 1.17 (PchipInterpolator) and scikit-learn 1.9
// (IsotonicRegression).
#include "tuner/replay/monotone_curves.hpp"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace autotune {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(MonotoneCubic, IsScipysPchip) {
  const std::array x{1.0, 2.0, 4.0, 5.0, 9.0}, y{10.0, 9.0, 3.0, 4.0, -2.0};
  const std::array at{1.0, 1.5, 3.0, 4.5, 7.0, 9.0};
  const auto near = [](double value) { return DoubleNear(value, 1e-8); };
  EXPECT_THAT(monotone_cubic(x, y, at), ElementsAre(near(10), near(9.63596491), near(5.64473684),
                                                    near(3.5), near(2.75), near(-2)));
}

TEST(MonotoneCubic, ThroughTwoPointsIsALineAndThroughOneAConstant) {
  const std::array x{1.0, 3.0}, y{4.0, 0.0};
  const std::array at{1.0, 2.0, 3.0};
  EXPECT_THAT(monotone_cubic(x, y, at), ElementsAre(DoubleEq(4), DoubleEq(2), DoubleEq(0)));
  EXPECT_THAT(monotone_cubic(std::array{2.0}, std::array{5.0}, at), ElementsAre(5, 5, 5));
}

TEST(FallingRegression, PoolsWhatRisesAndIsLinearBetweenPoints) {
  const std::vector<WeightedPoint> points = {{1, 9, 1},   {2, 5, 1}, {2, 8, 1},  {3, 7, 2},
                                             {5, 7.5, 1}, {6, 2, 0}, {8, 2.5, 1}};
  const std::array at{0.0, 1.5, 2.0, 3.0, 4.0, 6.5, 9.0};
  EXPECT_THAT(falling_regression(points, at),
              ElementsAre(DoubleEq(9), DoubleEq(7.95), DoubleEq(6.9), DoubleEq(6.9), DoubleEq(6.9),
                          DoubleEq(4.7), DoubleEq(2.5)));
}

}  // namespace
}  // namespace autotune
