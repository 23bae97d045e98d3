// SPDX-License-Identifier: Apache-2.0
// The Gaussian process's parts, against what can be worked out by hand.
#include "tuner/search/posterior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/candidates.hpp"
#include "tuner/search/expected_improvement.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

Points random_points(Eigen::Index count, Eigen::Index dimensions) {
  RandomSource random(5);
  Points points(count, dimensions);
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    points.data()[i] = static_cast<float>(random.uniform());
  }
  return points;
}

Kernel wide_kernel(Eigen::Index dimensions) {
  Kernel kernel = Kernel::prior(dimensions, 0);
  kernel.log_scales.setZero();
  kernel.log_noise = std::log(1e-6);
  kernel.log_amplitude = 0;
  return kernel;
}

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

TEST(Kernel, AFitTellsTheParameterThatMattersFromTheOneThatDoesNot) {
  Training training{random_points(40, 2), Eigen::VectorXd(40), {}};
  for (Eigen::Index i = 0; i < 40; ++i) training.targets[i] = std::sin(6 * training.points(i, 0));
  const Kernel fitted = fit_kernel(Kernel::prior(2, 0), training, 30);
  EXPECT_LT(fitted.log_scales[0] + 1, fitted.log_scales[1]);
}

TEST(Kernel, TwoConfigurationsThatDifferInAFlagWithoutEffectAreNearlyTheSame) {
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

TEST(Trend, ASlopeFollowsTheDataAndWithoutDataStaysAsBelieved) {
  Trend trend{Eigen::VectorXd::LinSpaced(50, -1, 1), 1, 0.5};
  const Eigen::VectorXd against = -2 * trend.feature;
  EXPECT_NEAR(fitted_slope(trend, 100 * trend.feature, 100 * against), -2, 1e-3);
  EXPECT_NEAR(fitted_slope(trend, Eigen::VectorXd::Zero(50), against), 1, 1e-12);
}

TEST(Posterior, KnowsWhatItObservedAndDoubtsTheRest) {
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

TEST(Posterior, OneByOneIsAllAtOnce) {
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

TEST(Posterior, ObservesSeveralAsOneByOne) {
  const Points points = random_points(700, 3);
  Posterior several(points, 8), one_by_one(points, 8);
  for (Posterior* posterior : {&several, &one_by_one}) {
    posterior->reset(wide_kernel(3), points.topRows(3));
  }
  several.observe(points.middleRows(3, 5));
  for (Eigen::Index i = 3; i < 8; ++i) one_by_one.observe(points.row(i));
  EXPECT_LT((several.variances() - one_by_one.variances()).abs().maxCoeff(), 1e-5);
}

TEST(Posterior, CopesWithPointsThatTellNothingNew) {
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

TEST(Posterior, AnObservationWithoutAValueComesOutAsExpected) {
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
  EXPECT_NEAR(means[4], before[4], 1e-2) << "as the first four let expect";
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

TEST(LevelCoordinates, AreBetweenRankAndLogarithm) {
  const ParameterSpace space({{"A", {1, 2, 16}, std::nullopt, false},
                              {"ONE", {7}, std::nullopt, false},
                              {"W", {"x", "y", "z"}, std::nullopt, false}},
                             std::span<const Expression>{}, Scope{});
  const LevelCoordinates coordinates(space);
  ASSERT_EQ(coordinates.dimensions(), 2u);
  const std::size_t index = *space.find(Levels{1, 0, 2});
  const Points points = coordinates.points({&index, 1});
  EXPECT_FLOAT_EQ(points(0, 0), (0.5F + 0.25F) / 2);
  EXPECT_FLOAT_EQ(points(0, 1), 1);
}

TEST(LevelCoordinates, EqualProductsHaveEqualCoordinates) {
  const ParameterSpace space({{"A", {1, 2, 4}, std::nullopt, false},
                              {"FLAG", {0, 1}, std::nullopt, false},
                              {"B", {8, 16, 32}, std::nullopt, false}},
                             std::span<const Expression>{}, Scope{});
  const LevelCoordinates coordinates(space, Products::included);
  ASSERT_EQ(coordinates.parameters(), 3u);
  ASSERT_EQ(coordinates.dimensions(), 4u);                                  // and A times B
  const std::vector<std::size_t> indices = {*space.find(Levels{0, 0, 1}),   // 1 * 16
                                            *space.find(Levels{1, 1, 0}),   // 2 * 8
                                            *space.find(Levels{2, 0, 2})};  // 4 * 32
  const Points points = coordinates.points(indices);
  EXPECT_FLOAT_EQ(points(0, 3), points(1, 3));
  EXPECT_FLOAT_EQ(points(2, 3), 0.6F);
  EXPECT_EQ(*coordinates.point(space.at(indices[1])), points.row(1));
}

TEST(LevelCoordinates, EqualProductsAreEqualToTheLastBit) {
  const std::vector<Value> values = {1, 2, 3, 5, 6, 7, 10, 12, 15, 20, 30, 42};
  const ParameterSpace space(
      {{"A", values, std::nullopt, false}, {"B", values, std::nullopt, false}},
      std::span<const Expression>{}, Scope{});
  const LevelCoordinates coordinates(space, Products::included);
  const Points points = coordinates.all_points();
  std::map<double, float> of_product;
  for (std::size_t index = 0; index < space.size(); ++index) {
    const Levels levels = space.levels(index);
    const double product = values[levels[0]].number() * values[levels[1]].number();
    const float coordinate = points(static_cast<Eigen::Index>(index), 2);
    EXPECT_EQ(of_product.emplace(product, coordinate).first->second, coordinate) << product;
  }
}

TEST(Observations, SlowOnesAreClippedAndFailuresAreGivenTheMedian) {
  Observations observations;
  for (std::size_t i = 0; i < 5; ++i) {
    observations.add({i, Outcome::ok, std::exp(static_cast<double>(i * i))});
  }
  observations.add({9, Outcome::crash, std::nullopt});
  observations.add({9, Outcome::ok, 1.0});  // heard of already
  EXPECT_EQ(observations.size(), 6u);
  EXPECT_EQ(observations.valid(), 5u);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5};
  const Targets targets = targets_of(observations, all);
  EXPECT_DOUBLE_EQ(targets.values[3], targets.values[4]);  // 9 and 16 both clipped to 9
  EXPECT_DOUBLE_EQ(targets.values[5], targets.values[2]);
  EXPECT_NEAR(targets.values.mean(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(targets.best, targets.values[0]);
}

TEST(Observations, AScreenedOnesLowerBoundCountsButIsNeverTheBest) {
  Observations observations;
  observations.add({0, Outcome::ok, 2.0});
  observations.add({1, Outcome::pruned, 1.0});
  observations.add({2, Outcome::pruned, std::nullopt});
  EXPECT_EQ(observations.valid(), 2u);
  EXPECT_DOUBLE_EQ(observations.best(), std::log(2.0));
}

TEST(Candidates, PredictionsAreCentredAndTheSlowHalfIsAlike) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<float> logs = log_predictions(
      std::vector<double>{1, std::exp(1.0), std::exp(2.0), std::exp(9.0), infinity});
  EXPECT_NEAR(logs[0] + logs[1] + logs[2] + logs[3] + logs[4], 0, 1e-5);
  EXPECT_NEAR(logs[1] - logs[0], 1, 1e-5);
  EXPECT_FLOAT_EQ(logs[2], logs[3]);
  EXPECT_FLOAT_EQ(logs[2], logs[4]);
  EXPECT_TRUE(log_predictions(std::vector<double>{0, infinity}).empty());
  EXPECT_EQ(predicted_best(logs, 2), (std::vector<std::size_t>{0, 1}));
}

TEST(Candidates, AThousandTimesTheFastestTenthIsHopeless) {
  std::vector<double> predicted(20, 1.0);
  EXPECT_TRUE(hopeless(predicted).empty());
  predicted[3] = 2000;
  predicted[4] = 0;
  const std::vector<bool> found = hopeless(predicted);
  EXPECT_EQ(std::ranges::count(found, true), 2);
  EXPECT_TRUE(found[3] && found[4]);
  // One prediction that is far too low does not condemn the rest.
  std::vector<double> poor(20, 1.0);
  poor[7] = 1e-6;
  EXPECT_TRUE(hopeless(poor).empty());
}

TEST(Candidates, LargeSpacesAreSampledWithTheNeighboursOfTheFastest) {
  const ParameterSpace space = simulated::grid({30, 30, 30, 30});
  const LevelCoordinates coordinates(space);
  Observations observations;
  const std::size_t fastest = *space.find(Levels{5, 5, 5, 5});
  observations.add({fastest, Outcome::ok, 1.0});
  RandomSource random(1);
  const Candidates candidates = draw_candidates(space, coordinates, {}, observations, random);
  EXPECT_LE(candidates.indices.size(), kMostCandidates);
  EXPECT_TRUE(std::is_sorted(candidates.indices.begin(), candidates.indices.end()));
  EXPECT_TRUE(candidates.row_of(*space.find(Levels{5, 5, 5, 29})));
  EXPECT_TRUE(candidates.row_of(*space.find(Levels{0, 5, 5, 5})));
  const auto row = candidates.row_of(fastest);
  EXPECT_TRUE(!row || candidates.asked[*row]);
}

}  // namespace
}  // namespace autotune
