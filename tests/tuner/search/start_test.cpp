// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/candidates.hpp"

namespace autotune {
namespace {

TEST(Start, AvoidsTheModelsSlowerHalf) {
  const ParameterSpace space = simulated::grid({10, 10, 10});
  const LevelCoordinates coordinates(space);
  std::vector<double> predicted;
  for (std::size_t i = 0; i < space.size(); ++i) predicted.push_back(1 + double(i));
  const std::vector<float> logs = log_predictions(predicted);
  RandomSource random(1);
  const auto first = first_configurations(space, coordinates, logs, 30, {}, random);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 30u);
  for (const std::size_t index : first) EXPECT_LT(index, 500u);
}

TEST(Start, TakesTheSlowerHalfWhenNothingElseIsLeft) {
  const ParameterSpace space = simulated::grid({4});
  const LevelCoordinates coordinates(space);
  const std::vector<float> logs = {-1, -1, 1, 1};
  const std::vector<std::size_t> taken = {0, 1};
  RandomSource random(1);
  EXPECT_EQ(spread_out(space, coordinates, 2, taken, random, logs).size(), 2u);
}

TEST(Start, BestCandidatesLieApartButNotAtTheEdges) {
  const ParameterSpace space = simulated::grid({30, 30});
  const LevelCoordinates coordinates(space);
  const auto at_edges = [&](const std::vector<std::size_t>& chosen) {
    return std::ranges::count_if(chosen, [&](std::size_t index) {
      const Levels levels = space.levels(index);
      return levels[0] % 29 == 0 || levels[1] % 29 == 0;
    });
  };
  RandomSource random(1);
  const auto chosen = best_candidates(space, coordinates, 20, {}, random);
  EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), 20u);
  EXPECT_LT(at_edges(chosen), at_edges(spread_out(space, coordinates, 20, {}, random)));
}

TEST(Start, BestCandidatesEndWithTheSpace) {
  const ParameterSpace space = simulated::grid({5});
  const LevelCoordinates coordinates(space);
  const std::vector<std::size_t> taken = {0, 3};
  RandomSource random(1);
  const auto chosen = best_candidates(space, coordinates, 10, taken, random);
  EXPECT_EQ(std::set(chosen.begin(), chosen.end()), (std::set<std::size_t>{1, 2, 4}));
}

}  // namespace
}  // namespace autotune
