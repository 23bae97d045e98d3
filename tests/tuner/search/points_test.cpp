// SPDX-License-Identifier: Apache-2.0
// Coordinates of configurations, worked out by hand.
#include "tuner/search/points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/candidates.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/search/strategies.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(AskInOrder, EvaluatesInBatchesAndPrefetchesTheNext) {
  const ParameterSpace space = simulated::grid({10});
  simulated::Bench bench(
      space, [](const Levels&) { return 1.0; }, 10, 2);
  const std::size_t indices[] = {8, 1, 6, 3, 0};
  EXPECT_TRUE(ask_in_order(bench, indices));
  EXPECT_THAT(bench.asked(), ElementsAre(8, 1, 6, 3, 0));
  EXPECT_EQ(bench.rounds(), 3);
  EXPECT_THAT(bench.prefetched(), ElementsAre(0, 3, 6));
}

TEST(AskInOrder, ReportsThatTheBudgetEnded) {
  const ParameterSpace space = simulated::grid({10});
  const std::size_t indices[] = {8, 1, 6};
  simulated::Bench enough(
      space, [](const Levels&) { return 1.0; }, 3, 2);
  EXPECT_TRUE(ask_in_order(enough, indices));
  simulated::Bench short_of(
      space, [](const Levels&) { return 1.0; }, 2, 2);
  EXPECT_FALSE(ask_in_order(short_of, indices));
  EXPECT_THAT(short_of.asked(), ElementsAre(8, 1));
}

TEST(RandomSource, IsSplitMix64) {
  // The second and third output of the authors' generator for seed 0; the first is skipped.
  RandomSource random(0);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(RandomSource, UniformNumbersFillTheUnitInterval) {
  RandomSource random(3);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double number = random.uniform();
    ASSERT_TRUE(number >= 0 && number < 1) << number;
    sum += number;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);  // five deviations of the mean
}

TEST(RandomSource, ShufflesEveryIndexOnceAndDiffersBySeed) {
  RandomSource one(1);
  RandomSource two(2);
  const auto first = random_order(100, one);
  EXPECT_NE(first, random_order(100, two));
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 100u);
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

TEST(Neighbours, WithinTwoChangesAreListedOnceWithoutTheCentre) {
  const ParameterSpace space(
      {parameter("A", {0, 1}), parameter("B", {0, 1}), parameter("C", {0, 1})},
      std::span<const Expression>{}, Scope{});
  const Neighbours neighbours(space);
  const std::size_t here = *space.find(Levels{0, 0, 0});
  std::vector<std::size_t> expected;
  for (std::size_t index = 0; index < space.size(); ++index) {
    if (index != here && index != *space.find(Levels{1, 1, 1})) expected.push_back(index);
  }
  EXPECT_EQ(neighbours.within_two_changes(here), expected);
}

TEST(Observations, SlowOnesAreClippedAndFailuresGetTheMedian) {
  Observations observations;
  for (std::size_t i = 0; i < 5; ++i) {
    observations.add({i, Outcome::ok, std::exp(static_cast<double>(i * i))});
  }
  observations.add({9, Outcome::crash, std::nullopt});
  observations.add({9, Outcome::ok, 1.0});  // a repetition
  EXPECT_EQ(observations.size(), 6u);
  EXPECT_EQ(observations.valid(), 5u);
  const std::vector<std::size_t> all = {0, 1, 2, 3, 4, 5};
  const Targets targets = targets_of(observations, all);
  EXPECT_DOUBLE_EQ(targets.values[3], targets.values[4]);  // 9 and 16 both clipped to 9
  EXPECT_DOUBLE_EQ(targets.values[5], targets.values[2]);
  EXPECT_NEAR(targets.values.mean(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(targets.best, targets.values[0]);
}

TEST(Observations, TheLowerBoundOfAPrunedOneCountsButIsNeverTheBest) {
  Observations observations;
  observations.add({0, Outcome::ok, 2.0});
  observations.add({1, Outcome::pruned, 1.0});
  observations.add({2, Outcome::pruned, std::nullopt});
  EXPECT_EQ(observations.valid(), 2u);
  EXPECT_DOUBLE_EQ(observations.best(), std::log(2.0));
}

TEST(Observations, FastestComesFirstAndTiesGoToTheLowestIndex) {
  Observations observations;
  observations.add({7, Outcome::ok, 2.0});
  observations.add({1, Outcome::crash, std::nullopt});
  observations.add({5, Outcome::ok, 1.0});
  observations.add({3, Outcome::ok, 2.0});
  EXPECT_EQ(observations.fastest(), (std::vector<std::size_t>{2, 3, 0}));
}

TEST(Observations, TargetsOfFailuresAloneAreZero) {
  Observations observations;
  observations.add({0, Outcome::crash, std::nullopt});
  observations.add({1, Outcome::crash, std::nullopt});
  const std::vector<std::size_t> all = {0, 1};
  EXPECT_TRUE(targets_of(observations, all).values.isZero());
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
