// SPDX-License-Identifier: Apache-2.0
// The covariance function and its fit, against the formula and known functions.
#include "tuner/search/kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tuner/search/kernels.hpp"

namespace autotune {
namespace {

using simulated::random_points;
using simulated::wide_kernel;

TEST(Kernel, IsItsAmplitudeAtNoDistanceAndMaternBeyond) {
  Kernel kernel = wide_kernel(1);
  Points points(2, 1);
  points << 0, 1;
  float values[2];
  covariances(kernel, points.row(0), points, values);
  EXPECT_FLOAT_EQ(values[0], 1);
  const double root5 = std::sqrt(5.0);
  EXPECT_NEAR(values[1], (1 + root5 + 5.0 / 3) * std::exp(-root5), 1e-6);
  kernel.step = 3;  // r = sqrt(1 + 3)
  covariances(kernel, points.row(0), points, values);
  EXPECT_FLOAT_EQ(values[0], 1);
  EXPECT_NEAR(values[1], (1 + 2 * root5 + 20.0 / 3) * std::exp(-2 * root5), 1e-6);
}

TEST(Kernel, AFitGivesAParameterWithoutEffectALongerScale) {
  Training training{random_points(40, 2), Eigen::VectorXd(40), {}};
  for (Eigen::Index i = 0; i < 40; ++i) training.targets[i] = std::sin(6 * training.points(i, 0));
  const Kernel fitted = fit_kernel(Kernel::prior(2, 0), training, 30);
  EXPECT_LT(fitted.log_scales[0] + 1, fitted.log_scales[1]);
}

TEST(Kernel, AFlagWithoutEffectLeavesConfigurationsFullyCorrelated) {
  Training training{random_points(40, 2), Eigen::VectorXd(40), {}};
  for (Eigen::Index i = 0; i < 40; ++i) {
    training.points(i, 1) = static_cast<float>(i % 2);
    training.targets[i] = std::sin(6 * training.points(i, 0));
  }
  const Kernel fitted = fit_kernel(Kernel::prior(2, 0), training, 30);
  Points flags(2, 2);
  flags << 0.5F, 0, 0.5F, 1;
  float covariance[2];
  covariances(fitted, flags.row(0), flags, covariance);
  EXPECT_LT(1 - covariance[1] / covariance[0], 1e-4F);
}

TEST(Kernel, TheLargestCorrelationIsThatOfTheNearestPoint) {
  Kernel kernel = wide_kernel(1);
  kernel.log_amplitude = std::log(4.0);
  Points points(2, 1);
  points << 0, 1;
  const double root5 = std::sqrt(5.0);
  EXPECT_NEAR(largest_correlation(kernel, points.row(0), points.bottomRows(1)),
              (1 + root5 + 5.0 / 3) * std::exp(-root5), 1e-6);
  EXPECT_NEAR(largest_correlation(kernel, points.row(0), points), 1, 1e-6);
  EXPECT_EQ(largest_correlation(kernel, points.row(0), Points(0, 1)), 0);
}

TEST(Trend, TheSlopeFollowsTheDataAndWithoutDataThePrior) {
  Trend trend{Eigen::VectorXd::LinSpaced(50, -1, 1), 1, 0.5};
  const Eigen::VectorXd against = -2 * trend.feature;
  EXPECT_NEAR(fitted_slope(trend, 100 * trend.feature, 100 * against), -2, 1e-3);
  EXPECT_NEAR(fitted_slope(trend, Eigen::VectorXd::Zero(50), against), 1, 1e-12);
}

}  // namespace
}  // namespace autotune
