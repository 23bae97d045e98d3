// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/tile.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

std::vector<float> random_values(std::size_t count) {
  RandomSource random(3);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(4 * random.uniform());
  return values;
}

TEST(Tile, HoldsSixtyFourPointsAColumnForEachDimension) {
  Points points(70, 2);
  for (Eigen::Index row = 0; row < 70; ++row) {
    points(row, 0) = static_cast<float>(row);
    points(row, 1) = static_cast<float>(-row);
  }
  const Eigen::MatrixXf tiles = in_tiles(points);
  ASSERT_EQ(tiles.rows(), kTile);
  ASSERT_EQ(tiles.cols(), 4);
  EXPECT_EQ(tiles(63, 1), -63);
  EXPECT_EQ(tiles(5, 2), 69);
  EXPECT_EQ(tiles(6, 2), 0);
}

TEST(Tile, CovariancesAgreeWithTheFormulaNearAndFar) {
  constexpr int kDimensions = 3;
  std::vector<float> tile = random_values(kTile * kDimensions);
  for (int d = 0; d < kDimensions; ++d) tile[static_cast<std::size_t>(d * kTile)] = 1;  // no change
  tile[1] = 1;     // a step in two dimensions of three
  tile[2] = 1000;  // far: e^-2236 is below the smallest float
  const std::vector<float> point = {1, 1, 1}, steps = {0.5, 0.25, 2};
  for (const float* const with : {steps.data(), static_cast<const float*>(nullptr)}) {
    std::vector<float> found(kTile);
    tile_covariances(tile.data(), kDimensions, point.data(), with, 3, found.data());
    for (int i = 0; i < kTile; ++i) {
      double r2 = 0;
      for (int d = 0; d < kDimensions; ++d) {
        const double delta = static_cast<double>(tile[static_cast<std::size_t>(d * kTile + i)]) - 1;
        r2 += delta * delta;
        if (delta != 0 && with) r2 += static_cast<double>(with[d]);
      }
      const double r = std::sqrt(5 * r2);
      const double exact = 3 * (1 + r + 5 * r2 / 3) * std::exp(-r);
      EXPECT_NEAR(static_cast<double>(found[static_cast<std::size_t>(i)]), exact,
                  1e-6 + 1e-5 * exact);
    }
    EXPECT_EQ(found[0], 3);
  }
}

TEST(Tile, SubtractsColumnsAndScales) {
  constexpr int kCount = 5;
  const std::vector<float> columns = random_values(kCount * kTile);
  const std::vector<float> factors = {1, -2, 0.5, 0, 3};
  std::vector<float> values(kTile, 7);
  subtract_columns(columns.data(), kCount, factors.data(), 0.5F, values.data());
  for (std::size_t i = 0; i < kTile; ++i) {
    float expected = 7;
    for (std::size_t c = 0; c < kCount; ++c) expected -= factors[c] * columns[c * kTile + i];
    EXPECT_FLOAT_EQ(values[i], 0.5F * expected);
  }
}

}  // namespace
}  // namespace autotune
