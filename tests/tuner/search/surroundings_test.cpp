// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surroundings.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

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

}  // namespace
}  // namespace autotune
