// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/tuner/search/kernels.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

using simulated::random_points;
using simulated::wide_kernel;

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

TEST(Posterior, IsCertainOnlyAtObservedPoints) {
  const Points points = random_points(20, 3);
  Posterior posterior(points, 10);
  posterior.reset(wide_kernel(3), points.topRows(5));
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(5, -1, 1);
  const Eigen::MatrixXf means = posterior.means(posterior.whitened(values));
  for (Eigen::Index i = 0; i < 5; ++i) {
    EXPECT_NEAR(static_cast<double>(means(i, 0)), values[i], 1e-2);
    EXPECT_LT(posterior.variances()[i], 1e-3);
  }
  EXPECT_GT(posterior.variances().tail(15).minCoeff(), 1e-3);
}

TEST(Posterior, ObservingOneByOneEqualsObservingAllAtOnce) {
  const Points points = random_points(700, 3);
  Posterior at_once(points, 8);
  Posterior one_by_one(points, 8);
  at_once.reset(wide_kernel(3), points.topRows(8));
  one_by_one.reset(wide_kernel(3), points.topRows(3));
  for (Eigen::Index i = 3; i < 8; ++i) one_by_one.observe(points.row(i));
  EXPECT_LT((at_once.variances() - one_by_one.variances()).abs().maxCoeff(), 1e-4);
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(8, 0, 1);
  EXPECT_LT(
      (at_once.means(at_once.whitened(values)) - one_by_one.means(one_by_one.whitened(values)))
          .cwiseAbs()
          .maxCoeff(),
      2e-3);
}

TEST(Posterior, CopesWithNearlyEqualPoints) {
  const Points points = 1e-3F * random_points(200, 1);
  Kernel kernel = wide_kernel(1);
  kernel.log_noise = -30;
  Posterior posterior(points, 200);
  posterior.reset(kernel, points.topRows(100));
  posterior.observe(points.bottomRows(100));
  const Eigen::VectorXf means = posterior.means(posterior.whitened(Eigen::VectorXd::Ones(200)));
  EXPECT_LT((means.array() - 1).abs().maxCoeff(), 0.01F);
  EXPECT_LT(posterior.variances().abs().maxCoeff(), 0.01F);
}

TEST(Posterior, AnObservationWithoutAValueTakesItsPredictedMean) {
  const Points points = random_points(20, 3);
  Posterior all(points, 10), first(points, 10);
  all.reset(wide_kernel(3), points.topRows(6));
  first.reset(wide_kernel(3), points.topRows(5));
  const Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(5, -1, 1);
  const std::vector<Eigen::Index> rows = {0, 1, 2, 3, 4};
  EXPECT_EQ(all.whitened(values, rows), first.whitened(values, rows));
  EXPECT_TRUE(all.whitened(values, rows).isApprox(all.whitened(values), 1e-9));

  const std::vector<Eigen::Index> gap = {0, 1, 2, 3, 5};
  const Eigen::VectorXf means = all.means(all.whitened(values, gap));
  const Eigen::VectorXf before = first.means(first.whitened(values.head(4)));
  EXPECT_NEAR(means[4], before[4], 1e-2) << "as predicted from the first four";
  EXPECT_NEAR(means[5], 1, 1e-2);
}

TEST(ExpectedImprovement, AgreesWithTheFormula) {
  const ExpectedImprovement improvement;
  for (const double z : {-5.0, -2.5, -1.0, 0.0, 0.7, 3.0, 8.0}) {
    const double exact =
        z * 0.5 * std::erfc(-z / std::sqrt(2.0)) + std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    EXPECT_NEAR(improvement.h(static_cast<float>(z)) / exact, 1, 1e-3) << z;
  }
  EXPECT_EQ(improvement.h(-20), 0);
  EXPECT_EQ(improvement.h(std::nanf("")), 0);
}

/// A search over two parameters of 12 values each; a time depends on both.
struct SurrogateSearch {
  ParameterSpace space = simulated::grid({12, 12});
  LevelCoordinates coordinates{space};
  Observations observations;
  RandomSource random{1};
  Candidates candidates =
      draw_candidates(space, coordinates, prior_of(space, {}), observations, random);

  void observe(std::size_t index) {
    const Levels levels = space.levels(index);
    observations.add({index, Outcome::ok, std::exp(0.3 * levels[0] + 0.1 * levels[1])});
  }
  Points points() const { return coordinates.points(observations.indices()); }
  Opinion update(Surrogate& surrogate) const {
    return surrogate.update(observations, points(), {});
  }
  void suppose(Surrogate& surrogate, const std::vector<std::size_t>& indices) const {
    surrogate.suppose(indices, coordinates.points(indices));
  }
};

/// Twenty observations: two more do not trigger a refit of the kernel.
SurrogateSearch begun() {
  SurrogateSearch search;
  for (std::size_t i = 0; i < 20; ++i) search.observe(7 * i);
  return search;
}

float difference(const Opinion& a, const Opinion& b) { return (a.mean - b.mean).abs().maxCoeff(); }

TEST(Surrogate, ResultsInAnotherOrderGoToTheRightConfigurations) {
  SurrogateSearch search = begun();
  Surrogate in_order(search.candidates, 4, 0), supposed(search.candidates, 4, 0);
  search.update(in_order);
  search.update(supposed);
  search.suppose(supposed, {3, 140});  // the third fastest and the fourth slowest
  search.observe(140);
  search.observe(3);
  EXPECT_LT(difference(search.update(in_order), search.update(supposed)), 1e-3F);
}

TEST(Surrogate, InFlightConfigurationsCountAsPredicted) {
  SurrogateSearch search = begun();
  Surrogate with(search.candidates, 4, 0), without(search.candidates, 4, 0);
  search.update(with);
  search.update(without);
  search.suppose(with, {140, 3});
  search.observe(3);
  const Opinion before = search.update(with);
  EXPECT_LT(difference(before, search.update(without)), 0.2F)
      << "the prediction for 140 is about right";
  EXPECT_LT(with.variances()[140], without.variances()[140]);
  search.suppose(with, {140});
  EXPECT_EQ(difference(before, search.update(with)), 0) << "it is supposed once";
}

}  // namespace
}  // namespace autotune
