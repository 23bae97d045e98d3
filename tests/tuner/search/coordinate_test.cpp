// SPDX-License-Identifier: Apache-2.0
// Coordinate search descends into valleys.
#include "tuner/search/coordinate.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;
using simulated::valley;

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

}  // namespace
}  // namespace autotune
