// SPDX-License-Identifier: Apache-2.0
// Which configurations a search considers.
#include "tuner/search/candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

TEST(Candidates, PredictionsAreCentredAndClippedAtTheMedian) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<float> logs = log_predictions(
      std::vector<double>{1, std::exp(1.0), std::exp(2.0), std::exp(9.0), infinity});
  EXPECT_NEAR(logs[0] + logs[1] + logs[2] + logs[3] + logs[4], 0, 1e-5);
  EXPECT_NEAR(logs[1] - logs[0], 1, 1e-5);
  EXPECT_FLOAT_EQ(logs[2], logs[3]);
  EXPECT_FLOAT_EQ(logs[2], logs[4]);
  EXPECT_TRUE(log_predictions(std::vector<double>{0, infinity}).empty());
  const std::vector<double> nearly_equal = {1.0e-4, 1.1e-4, 1.2e-4, 1.05e-4};
  EXPECT_TRUE(log_predictions(nearly_equal).empty());
  EXPECT_EQ(predicted_best(logs, 2), (std::vector<std::size_t>{0, 1}));
}

TEST(Candidates, AThousandTimesTheFastestTenthIsHopeless) {
  std::vector<double> predicted(20, 1.0);
  EXPECT_TRUE(hopeless(predicted).empty());
  predicted[3] = 2000;
  predicted[4] = 0;
  const std::vector<bool> found = hopeless(predicted);
  EXPECT_EQ(std::ranges::count(found, true), 2);
  EXPECT_TRUE(found[3] && found[4]);
  // One prediction that is far too low does not condemn the rest.
  std::vector<double> poor(20, 1.0);
  poor[7] = 1e-6;
  EXPECT_TRUE(hopeless(poor).empty());
}

TEST(Candidates, LargeSpacesAreSampledWithTheNeighboursOfTheFastest) {
  const ParameterSpace space = simulated::grid({30, 30, 30, 30});
  const LevelCoordinates coordinates(space);
  Observations observations;
  const std::size_t fastest = *space.find(Levels{5, 5, 5, 5});
  observations.add({fastest, Outcome::ok, 1.0});
  RandomSource random(1);
  const Candidates candidates = draw_candidates(space, coordinates, {}, observations, random);
  EXPECT_LE(candidates.indices.size(), kMostCandidates);
  EXPECT_TRUE(std::is_sorted(candidates.indices.begin(), candidates.indices.end()));
  EXPECT_TRUE(candidates.row_of(*space.find(Levels{5, 5, 5, 29})));
  EXPECT_TRUE(candidates.row_of(*space.find(Levels{0, 5, 5, 5})));
  const auto row = candidates.row_of(fastest);
  EXPECT_TRUE(!row || candidates.asked[*row]);
}

TEST(Candidates, OfALateSearchAreFewThatAreLeft) {
  const ParameterSpace space = simulated::grid({20, 20, 20});
  const LevelCoordinates coordinates(space);
  Observations observations;
  RandomSource random(1);
  const auto draw = [&] { return draw_candidates(space, coordinates, {}, observations, random); };
  while (observations.size() + 1 < kLate) {
    observations.add({8 * observations.size(), Outcome::ok, 1.0 + 1.0 * observations.size()});
  }
  EXPECT_EQ(draw().indices.size(), 8000u);
  observations.add({7999, Outcome::ok, 0.5});
  const std::vector<std::size_t> late = draw().indices;
  EXPECT_GT(late.size(), 1000u);
  EXPECT_LT(late.size(), 3000u);
  for (const std::size_t index : late) EXPECT_FALSE(observations.contains(index));
  EXPECT_TRUE(std::ranges::count(late, 7998) == 1) << "next to the fastest";
}

TEST(Candidates, OfASmallSpaceAreAllThatAreNotHopeless) {
  const ParameterSpace space = simulated::grid({3, 2});
  const LevelCoordinates coordinates(space);
  const std::vector<double> predicted = {1, 2, 3, 0, 4, 5};  // the cost model rules out index 3
  Observations observations;
  observations.add({4, Outcome::ok, 1.0});
  RandomSource random(1);
  const Candidates candidates =
      draw_candidates(space, coordinates, prior_of(space, predicted), observations, random);
  EXPECT_EQ(candidates.indices, (std::vector<std::size_t>{0, 1, 2, 4, 5}));
  EXPECT_EQ(candidates.asked, (std::vector<char>{0, 0, 0, 1, 0}));
  EXPECT_EQ(candidates.row_of(3), std::nullopt);
  EXPECT_EQ(candidates.row_of(5), 4u);
  EXPECT_GT(candidates.predicted[1], candidates.predicted[0]);
}

class Ready : public testing::Test {
 protected:
  /// The best of four rows, which are configurations 3, 5, 7 and 9.
  std::optional<Eigen::Index> best(const Eigen::Array4f& scores) {
    return memory_.best(scores, {3, 5, 7, 9});
  }

  const ParameterSpace space_ = simulated::grid({10});
  simulated::Bench bench_{space_, [](const Levels&) { return 1.0; }, 10};
  ReadyMemory memory_{bench_};
};

TEST_F(Ready, TheHighestScoreAmongReadyOnesIsChosen) {
  bench_.make_ready([](std::size_t index) { return index == 5 || index == 9; });
  EXPECT_EQ(best({8, 6, 7, 5}), 1);
}

TEST_F(Ready, ReadyOnesBelowAQuarterOfTheBestAreNotChosen) {
  bench_.make_ready([](std::size_t index) { return index == 9; });
  EXPECT_EQ(best({8, 6, 7, 2}), 3);
  EXPECT_EQ(best({8, 6, 7, 1.9F}), std::nullopt);
}

TEST_F(Ready, NoneIsChosenIfNoneIsReadyOrAllScoresAreZero) {
  EXPECT_EQ(best({8, 6, 7, 5}), std::nullopt);
  bench_.make_ready([](std::size_t) { return true; });
  EXPECT_EQ(best({0, 0, 0, 0}), std::nullopt);
}

TEST_F(Ready, AnAnswerIsKeptUntilItIsForgotten) {
  EXPECT_EQ(best({8, 6, 7, 5}), std::nullopt);
  bench_.make_ready([](std::size_t) { return true; });
  EXPECT_EQ(best({8, 6, 7, 5}), std::nullopt);
  memory_.forget_missing();
  EXPECT_EQ(best({8, 6, 7, 5}), 0);
}

}  // namespace
}  // namespace autotune
