// SPDX-License-Identifier: Apache-2.0
// Coordinates of configurations, worked out by hand.
#include "tuner/search/points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/candidates.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(RandomSource, IsSplitMix64) {
  // The second and third output of the authors' generator for seed 0; the first is skipped.
  RandomSource random(0);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

Parameter parameter(const std::string& name, const std::vector<Value>& values,
                    const std::string& when = "") {
  Parameter made{name, values, std::nullopt, false};
  if (!when.empty()) made.when = Expression::parse(when);
  return made;
}

TEST(Neighbours, DifferInOneValidValue) {
  const std::vector<Expression> constraints = {Expression::parse("A + B <= 3")};
  const ParameterSpace space({parameter("A", {0, 1, 2}), parameter("B", {0, 1, 2})}, constraints,
                             Scope{});
  const Neighbours neighbours(space);
  const std::size_t here = *space.find(Levels{1, 2});
  EXPECT_THAT(neighbours.along(here, 0), ElementsAre(*space.find(Levels{0, 2})));
  EXPECT_THAT(neighbours.of(here), ElementsAre(*space.find(Levels{0, 2}), *space.find(Levels{1, 0}),
                                               *space.find(Levels{1, 1})));
}

TEST(Neighbours, AnInactiveParameterTakesItsFirstValue) {
  const ParameterSpace space(
      {parameter("ON", {0, 1}), parameter("DEPTH", {2, 3, 4}, "ON"), parameter("B", {0, 1})},
      std::span<const Expression>{}, Scope{});
  ASSERT_EQ(space.size(), 8u);  // off: 1 x 2, on: 3 x 2
  const Neighbours neighbours(space);
  EXPECT_THAT(neighbours.along(*space.find(Levels{1, 2, 1}), 0),
              ElementsAre(*space.find(Levels{0, 0, 1})));
  EXPECT_THAT(neighbours.along(*space.find(Levels{0, 0, 1}), 0),
              ElementsAre(*space.find(Levels{1, 0, 1})));
}

TEST(Observations, TheLowerBoundOfAPrunedOneCountsButIsNeverTheBest) {
  Observations observations;
  observations.add({0, Outcome::ok, 2.0});
  observations.add({1, Outcome::pruned, 1.0});
  observations.add({2, Outcome::pruned, std::nullopt});
  EXPECT_EQ(observations.valid(), 2u);
  EXPECT_DOUBLE_EQ(observations.best(), std::log(2.0));
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
