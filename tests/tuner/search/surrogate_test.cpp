// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
namespace {

/// A search over two parameters of 12 values each; a time depends on both.
struct SurrogateSearch {
  ParameterSpace space = simulated::grid({12, 12});
  LevelCoordinates coordinates{space};
  Observations observations;
  RandomSource random{1};
  Candidates candidates = draw_candidates(space, coordinates, {}, observations, random);

  void observe(std::size_t index) {
    const Levels levels = space.levels(index);
    observations.add({index, Outcome::ok, std::exp(0.3 * levels[0] + 0.1 * levels[1])});
  }
  Points points() const { return coordinates.points(observations.indices()); }
  Opinion update(Surrogate& surrogate) const {
    return surrogate.update(observations, points(), {});
  }
  void suppose(Surrogate& surrogate, const std::vector<std::size_t>& indices) const {
    surrogate.suppose(indices, coordinates.points(indices));
  }
};

/// Twenty observations: two more do not trigger a refit of the kernel.
SurrogateSearch begun() {
  SurrogateSearch search;
  for (std::size_t i = 0; i < 20; ++i) search.observe(7 * i);
  return search;
}

float difference(const Opinion& a, const Opinion& b) { return (a.mean - b.mean).abs().maxCoeff(); }

TEST(Surrogate, ResultsInAnotherOrderGoToTheRightConfigurations) {
  SurrogateSearch search = begun();
  Surrogate in_order(search.candidates, 4, 0), supposed(search.candidates, 4, 0);
  search.update(in_order);
  search.update(supposed);
  search.suppose(supposed, {3, 140});  // the third fastest and the fourth slowest
  search.observe(140);
  search.observe(3);
  EXPECT_LT(difference(search.update(in_order), search.update(supposed)), 1e-3F);
}

TEST(Surrogate, InFlightConfigurationsCountAsPredicted) {
  SurrogateSearch search = begun();
  Surrogate with(search.candidates, 4, 0), without(search.candidates, 4, 0);
  search.update(with);
  search.update(without);
  search.suppose(with, {140, 3});
  search.observe(3);
  const Opinion before = search.update(with);
  EXPECT_LT(difference(before, search.update(without)), 0.2F)
      << "the prediction for 140 is about right";
  EXPECT_LT(with.variances()[140], without.variances()[140]);
  search.suppose(with, {140});
  EXPECT_EQ(difference(before, search.update(with)), 0) << "it is supposed once";
}

}  // namespace
}  // namespace autotune
