// SPDX-License-Identifier: Apache-2.0
// What every strategy must do, whatever the space is like.
#include "tuner/search/strategy.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using simulated::valley;

TEST(Exhaustive, EvaluatesInOrderAndPrefetchesTheNextBatch) {
  const ParameterSpace space = grid({6});
  Bench bench(space, valley, 6, 2);
  ExhaustiveSearch().search(bench, 1);
  EXPECT_THAT(bench.asked(), testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(bench.prefetched(), testing::ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(bench.rounds(), 3);
}

TEST(Random, DiffersBySeed) {
  const ParameterSpace space = grid({10, 10});
  Bench first(space, valley, 10);
  Bench second(space, valley, 10);
  RandomSearch().search(first, 1);
  RandomSearch().search(second, 2);
  EXPECT_NE(first.asked(), second.asked());
}

TEST(Coordinate, ReachesTheFloorOfAValleyInOneRound) {
  const ParameterSpace space = grid({9, 9, 9, 9});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Bench bench(space, valley, 1 + 4 * 8);
    CoordinateSearch().search(bench, seed);
    EXPECT_EQ(bench.best(), 1);
  }
}

TEST(Coordinate, StartsFromTheBestKnownConfiguration) {
  const ParameterSpace space = grid({9, 9});
  Bench bench(space, valley, 8);
  bench.know(*space.find(Levels{2, 7}));
  CoordinateSearch().search(bench, 1);
  EXPECT_EQ(bench.asked().size(), 8u);
  for (const std::size_t index : bench.asked()) {
    EXPECT_TRUE(space.levels(index)[0] == 2 || space.levels(index)[1] == 7);
  }
}

TEST(ListedConfigurations, AreEvaluatedInOrderWithoutThoseOutsideTheSpace) {
  const ParameterSpace space = grid({4, 4});
  const auto configuration = [](int first, int second) {
    return Configuration{{"P0", first}, {"P1", second}};
  };
  ListedConfigurations listed({configuration(3, 1), configuration(4, 0), configuration(0, 2)});
  Bench bench(space, valley, 10);
  listed.search(bench, 1);
  EXPECT_THAT(bench.asked(),
              testing::ElementsAre(*space.find(Levels{3, 1}), *space.find(Levels{0, 2})));
}

class EveryStrategy : public testing::TestWithParam<std::string> {
 protected:
  std::vector<std::size_t> run(Bench& bench, std::uint64_t seed = 1) const {
    make_strategy(GetParam())->search(bench, seed);
    return bench.asked();
  }
};

TEST_P(EveryStrategy, TriesAllOfATinySpaceAndEnds) {
  for (const int size : {1, 2, 5}) {
    const ParameterSpace space = grid({size});
    Bench bench(space, valley, 100);
    EXPECT_EQ(run(bench).size(), space.size());
  }
}

TEST_P(EveryStrategy, EndsAtOnceInAnEmptySpace) {
  const ParameterSpace space({{"A", {1, 2}, std::nullopt, false}}, std::vector<std::uint64_t>{});
  Bench bench(space, valley, 100);
  EXPECT_TRUE(run(bench).empty());
}

TEST_P(EveryStrategy, TriesAllWhenTheBudgetAllowsAndFindsTheBest) {
  const ParameterSpace space = grid({5, 4, 5});
  for (const int batch : {1, 3, 8}) {
    Bench bench(space, valley, 1000, batch);
    EXPECT_EQ(run(bench).size(), space.size());
    EXPECT_EQ(bench.best(), 1);
  }
}

TEST_P(EveryStrategy, StopsWhenTheBudgetEndsWithinABatch) {
  const ParameterSpace space = grid({5, 4, 5});
  for (const std::size_t budget : {1u, 2u, 5u, 7u, 13u}) {
    Bench bench(space, valley, budget, 4);
    EXPECT_EQ(run(bench).size(), budget);
  }
}

TEST_P(EveryStrategy, GoesOnToTheEndOfTheBudgetWhenEverythingFails) {
  const ParameterSpace space = grid({6, 6, 6});
  Bench bench(
      space, [](const Levels&) { return std::nullopt; }, 60, 4);
  EXPECT_EQ(run(bench).size(), 60u);
}

TEST_P(EveryStrategy, CopesWithEqualTimesEverywhere) {
  const ParameterSpace space = grid({6, 6, 6});
  Bench bench(
      space, [](const Levels&) { return 2.5; }, 60);
  EXPECT_EQ(run(bench).size(), 60u);
}

TEST_P(EveryStrategy, AsksTheSameWithTheSameSeed) {
  const ParameterSpace space = grid({7, 7, 7});
  Bench first(space, valley, 50, 3);
  Bench second(space, valley, 50, 3);
  EXPECT_EQ(run(first, 7), run(second, 7));
}

TEST_P(EveryStrategy, FindsAWayThroughFailures) {
  const ParameterSpace space = grid({8, 8});
  const auto truth = [](const Levels& levels) {
    return (levels[0] + levels[1]) % 2 ? std::nullopt : valley(levels);
  };
  Bench bench(space, truth, space.size());
  run(bench);
  EXPECT_EQ(bench.best(), 1);
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const StrategyRow& row : strategies()) names.push_back(row.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryStrategy, testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

TEST(Strategies, GuidedStandsFirst) { EXPECT_EQ(strategies().front().name, "guided"); }

TEST(Strategies, AnUnknownNameIsReportedWithSimilarNames) {
  EXPECT_REFUSAL(UsageError, make_strategy("guide"), "guided");
}

}  // namespace
}  // namespace autotune
