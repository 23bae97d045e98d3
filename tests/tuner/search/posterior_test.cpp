// SPDX-License-Identifier: Apache-2.0
// The posterior of a Gaussian process, against what can be worked out by hand.
#include "tuner/search/posterior.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tuner/search/kernels.hpp"

namespace autotune {
namespace {

using simulated::random_points;
using simulated::wide_kernel;

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

TEST(Posterior, ObservingSeveralEqualsObservingOneByOne) {
  const Points points = random_points(700, 3);
  Posterior several(points, 8), one_by_one(points, 8);
  for (Posterior* posterior : {&several, &one_by_one}) {
    posterior->reset(wide_kernel(3), points.topRows(3));
  }
  several.observe(points.middleRows(3, 5));
  for (Eigen::Index i = 3; i < 8; ++i) one_by_one.observe(points.row(i));
  EXPECT_LT((several.variances() - one_by_one.variances()).abs().maxCoeff(), 1e-5);
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

}  // namespace
}  // namespace autotune
