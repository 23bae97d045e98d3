// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace autotune {
namespace {

ParameterSpace space_of_four() {
  std::vector<Parameter> parameters;
  for (const char* name : {"A", "B", "C", "D"}) {
    parameters.push_back({name, {1, 2, 4, 32}, std::nullopt, false});
  }
  return ParameterSpace(std::move(parameters), std::span<const Expression>{}, Scope{});
}

Kernel uneven_kernel(double step) {
  Kernel kernel = Kernel::prior(10, step);
  for (Eigen::Index d = 0; d < 10; ++d) kernel.log_scales[d] = 0.4 * static_cast<double>(d) - 2;
  kernel.log_amplitude = 0.5;
  return kernel;
}

/// Σ Δ² / scale² over the dimensions.
double squared_distance(const Kernel& kernel, const Points& points, Eigen::Index a,
                        Eigen::Index b) {
  const Eigen::ArrayXd delta = (points.row(a) - points.row(b)).cast<double>().transpose();
  return (delta * (-kernel.log_scales).array().exp()).square().sum();
}

TEST(Reduction, KeepsDistancesInFewerDimensions) {
  const ParameterSpace space = space_of_four();
  const LevelCoordinates coordinates(space, Products::included);
  const Eigen::MatrixXd basis = coordinates.product_basis();
  ASSERT_EQ(basis.rows(), 6);
  ASSERT_EQ(basis.cols(), 4);
  const Kernel kernel = uneven_kernel(0);
  const Points points = coordinates.all_points();
  const Points reduced = Reduction(kernel, basis).points(points);
  ASSERT_EQ(reduced.cols(), 8);
  for (const Eigen::Index row : {0, 77, 255}) {
    for (Eigen::Index other = 0; other < points.rows(); ++other) {
      const double exact = squared_distance(kernel, points, row, other);
      const double found =
          static_cast<double>((reduced.row(row) - reduced.row(other)).squaredNorm());
      EXPECT_NEAR(found, exact, 1e-5 * (1 + exact));
    }
  }
}

TEST(Reduction, WithoutABasisScalesPointsAndSteps) {
  const ParameterSpace space = space_of_four();
  const Points points = LevelCoordinates(space, Products::included).all_points();
  const Kernel kernel = uneven_kernel(0.25);
  const Reduction reduction(kernel);
  const Points scaled = reduction.points(points);
  ASSERT_EQ(scaled.cols(), points.cols());
  EXPECT_FLOAT_EQ(scaled(255, 9), points(255, 9) * static_cast<float>(std::exp(-1.6)));
  ASSERT_NE(reduction.steps(), nullptr);
  EXPECT_FLOAT_EQ(reduction.steps()[9], static_cast<float>(0.25 * std::exp(-3.2)));
  EXPECT_FLOAT_EQ(reduction.amplitude(), std::exp(0.5F));
  EXPECT_EQ(Reduction(uneven_kernel(0)).steps(), nullptr);
}

}  // namespace
}  // namespace autotune
