// SPDX-License-Identifier: Apache-2.0
// Coordinates of configurations, worked out by hand.
#include "tuner/search/points.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace autotune {
namespace {

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

TEST(LevelCoordinates, AConfigurationWithAnUnknownValueHasNoPoint) {
  const ParameterSpace space(
      {{"A", {1, 2, 4}, std::nullopt, false}, {"B", {1, 2, 4}, std::nullopt, false}},
      std::span<const Expression>{}, Scope{});
  const LevelCoordinates coordinates(space);
  EXPECT_TRUE(coordinates.point({{"A", 4}, {"B", 1}}));
  EXPECT_FALSE(coordinates.point({{"A", 3}, {"B", 1}}));
  EXPECT_FALSE(coordinates.point({{"A", 4}}));
}

}  // namespace
}  // namespace autotune
