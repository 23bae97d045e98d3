// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/turns.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace autotune {
namespace {

using enum Proposer;

std::vector<Proposer> next(Turns& turns, int count) {
  std::vector<Proposer> proposers;
  for (int i = 0; i < count; ++i) proposers.push_back(turns.next());
  return proposers;
}

TEST(Turns, EveryFourthProposalIsANeighbourOfTheFastest) {
  Turns turns;
  EXPECT_THAT(next(turns, 5), testing::ElementsAre(smooth, stepped, smooth, local, smooth));
}

TEST(Turns, QuartersAreRandomLocalAndAroundAfterTenObservationsWithoutAGain) {
  Turns turns;
  turns.observe(1, 0.0);
  turns.observe(10, 0.0);
  EXPECT_THAT(next(turns, 1), testing::ElementsAre(smooth));
  turns.observe(11, 0.0);
  EXPECT_THAT(next(turns, 8),
              testing::ElementsAre(smooth, random, local, stepped, around, random, local, around));
}

TEST(Turns, FourInTenAreAroundTheFastestAfterThirtyFiveObservationsWithoutAGain) {
  Turns turns;
  turns.observe(1, 0.0);
  turns.observe(35, 0.0);
  EXPECT_THAT(next(turns, 2), testing::ElementsAre(smooth, random)) << "stale only";
  turns.observe(36, 0.0);
  EXPECT_THAT(next(turns, 10), testing::ElementsAre(around, smooth, around, random, around, local,
                                                    around, stepped, random, local));
}

TEST(Turns, SmallStepsAlongAPlateauAreNoGain) {
  Turns turns;
  for (std::size_t n = 1; n <= 11; ++n) turns.observe(n, -0.001 * static_cast<double>(n));
  EXPECT_THAT(next(turns, 2), testing::ElementsAre(smooth, random));
}

TEST(Turns, AGainOfTwoPercentResumesTheFreshRound) {
  Turns turns;
  EXPECT_THAT(next(turns, 1), testing::ElementsAre(smooth));
  turns.observe(1, 0.0);
  turns.observe(11, 0.0);
  EXPECT_THAT(next(turns, 2), testing::ElementsAre(smooth, random));
  turns.observe(12, -0.03);
  EXPECT_THAT(next(turns, 3), testing::ElementsAre(stepped, smooth, local));
}

TEST(Turns, NothingIsRandomAtTheEnd) {
  Turns turns;
  turns.observe(1, 0.0);
  turns.observe(11, 0.0);
  std::vector<Proposer> proposers;
  for (int i = 0; i < 4; ++i) proposers.push_back(turns.next(true));
  EXPECT_THAT(proposers, testing::ElementsAre(smooth, around, local, stepped));
}

}  // namespace
}  // namespace autotune
