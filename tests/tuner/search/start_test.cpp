// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/tuner/search/simulated.hpp"
#include "tuner/search/candidates.hpp"

namespace autotune {
namespace {

void observe(const ParameterSpace& space, Observations& observations, const Levels& levels,
             double seconds) {
  observations.add({*space.find(levels), Outcome::ok, seconds});
}

/// Values of P0 multiply the time by 1.05 each, those of P1 by 1.1.
double time_of(const Levels& levels) {
  return std::pow(1.05, levels[0]) * std::pow(1.1, levels[1]);
}

TEST(ValueEffects, RankUnseenCombinationsOfSeenValues) {
  const ParameterSpace space = simulated::grid({3, 3});
  Observations observations;
  for (const Levels& levels : {Levels{0, 1}, {0, 2}, {1, 1}, {1, 0}, {2, 2}, {2, 0}}) {
    observe(space, observations, levels, time_of(levels));
  }
  const ValueEffects effects(space, observations);
  const auto expected = [&](const Levels& levels) {
    return effects.log_seconds(*space.find(levels));
  };
  EXPECT_LT(expected({0, 0}), expected({1, 0}));
  EXPECT_LT(expected({1, 0}), expected({1, 2}));
  EXPECT_LT(expected({1, 2}), expected({2, 2}));
}

TEST(ValueEffects, ASlowConfigurationSaysLittleOfItsValues) {
  const ParameterSpace space = simulated::grid({8, 8});
  Observations observations;
  for (std::uint16_t p = 0; p < 8; ++p) {
    observe(space, observations, {p, 1}, 1.1);
    observe(space, observations, {p, 2}, 1.0);
  }
  for (std::uint16_t p = 0; p < 4; ++p) observe(space, observations, {p, 3}, p == 0 ? 1.0 : 50.0);
  const ValueEffects effects(space, observations);
  EXPECT_LT(effects.log_seconds(*space.find(Levels{5, 3})),
            effects.log_seconds(*space.find(Levels{5, 1})))
      << "one fast configuration outweighs three slow ones";
}

TEST(ValueEffects, OneObservationIsEnough) {
  const ParameterSpace space = simulated::grid({2, 2});
  Observations observations;
  observe(space, observations, {0, 0}, 2);
  EXPECT_DOUBLE_EQ(ValueEffects(space, observations).log_seconds(3), std::log(2));
}

/// Two parameters of three values and one of four. The fastest is 1, 1, 0.
struct NeighbourSpace {
  ParameterSpace space = simulated::grid({3, 3, 4});
  LevelCoordinates coordinates{space};
  Neighbours neighbours{space};
  Observations observations;
  RandomSource random{1};
  Candidates candidates = draw_candidates(space, coordinates, {}, observations, random);
  std::vector<char> taken = std::vector<char>(space.size(), 0);
  Surroundings surroundings{space, candidates, neighbours};
  Kernel kernel = Kernel::prior(3, 0.03);

  NeighbourSpace() {
    add({1, 1, 0}, 1.00);
    add({1, 1, 3}, 1.20);
    add({0, 1, 0}, 1.01);
    add({1, 2, 0}, 1.02);
    add({2, 1, 0}, 1.10);
    add({1, 0, 0}, 1.15);
  }
  void add(const Levels& levels, double seconds) {
    const std::size_t index = *space.find(levels);
    observations.add({index, Outcome::ok, seconds});
    taken[index] = 1;
  }
  std::optional<Levels> next(const Eigen::ArrayXf& success = {}) {
    const Points known = coordinates.points(observations.indices());
    const auto row = surroundings.best_row(observations, kernel, known, success, taken);
    return row ? std::optional(space.levels(*row)) : std::nullopt;
  }
};

TEST(Surroundings, CombineTheTwoBestChanges) {
  NeighbourSpace fixture;
  EXPECT_EQ(fixture.next(), (Levels{0, 2, 0}));
}

TEST(Surroundings, SkipWhatWillProbablyFail) {
  NeighbourSpace fixture;
  Eigen::ArrayXf success =
      Eigen::ArrayXf::Ones(static_cast<Eigen::Index>(fixture.candidates.indices.size()));
  success[static_cast<Eigen::Index>(*fixture.space.find(Levels{0, 2, 0}))] = 0.02F;
  EXPECT_NE(fixture.next(success), (Levels{0, 2, 0}));
}

TEST(Surroundings, PreferATradeOfAValueForAnother) {
  NeighbourSpace fixture;
  for (const Levels& levels : {Levels{0, 2, 0}, Levels{0, 1, 1}}) {
    fixture.taken[*fixture.space.find(levels)] = 1;
  }
  EXPECT_EQ(fixture.next(), (Levels{2, 0, 0})) << "though {0, 1, 2} has the faster values";
}

TEST(Surroundings, SkipWhatDiffersInParametersWithoutEffectOnly) {
  NeighbourSpace fixture;
  fixture.add({0, 2, 0}, 0.9);
  fixture.kernel.log_scales[2] = 5;  // the third parameter is known to have no effect
  int proposals = 0;
  while (const auto levels = fixture.next()) {
    for (const std::size_t index : fixture.observations.indices()) {
      const Levels known = fixture.space.levels(index);
      EXPECT_FALSE((*levels)[0] == known[0] && (*levels)[1] == known[1]);
    }
    fixture.add(*levels, 2.0);
    ++proposals;
  }
  EXPECT_EQ(proposals, 9 - 6) << "three of the nine pairs of the other two are unknown";
}

TEST(Surroundings, EndTwoChangesAway) {
  NeighbourSpace fixture;
  int count = 0;
  while (const auto levels = fixture.next()) {
    EXPECT_TRUE((*levels)[0] == 1 || (*levels)[1] == 1 || (*levels)[2] == 0);
    fixture.taken[*fixture.space.find(*levels)] = 1;
    ++count;
  }
  EXPECT_EQ(count, 36 - 12 - 6) << "12 are three changes away, 6 are taken";
}

TEST(Surroundings, FollowTheFastest) {
  NeighbourSpace fixture;
  fixture.next();
  fixture.add({0, 2, 3}, 0.5);
  const auto levels = fixture.next();
  ASSERT_TRUE(levels);
  EXPECT_TRUE((*levels)[0] == 0 || (*levels)[1] == 2 || (*levels)[2] == 3);
}

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
