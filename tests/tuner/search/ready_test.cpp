// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/ready.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/search/simulated.hpp"

namespace autotune {
namespace {

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
