// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/transfer_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace autotune {
namespace {

TEST(TransferChoice, TheModelIsCorrectedByWhatItWasOffWhereAWinnerWasTimed) {
  // 10 us and 12 us by the model, which was 1.5 times and 1.1 times too fast: 15 us and 13.2 us.
  const std::vector<NearWinner> winners{{std::log(10), {std::log(1.5), {}}, 0},
                                        {std::log(12), {std::log(1.1), {}}, 0}};
  EXPECT_EQ(choose_winner(winners, std::log(100)), 1u);
}

TEST(TransferChoice, DistanceCounts) {
  const std::vector<NearWinner> winners{{std::log(10), {}, 3}, {std::log(12), {}, 0.1}};
  EXPECT_EQ(choose_winner(winners, std::log(100)), 1u);
}

TEST(TransferChoice, ADefaultThatIsNotClearlyBeatenStays) {
  std::vector<NearWinner> winners{{std::log(10), {0, 0.0}, 0}, {std::log(20), {0.4, 0.0}, 0}};
  // The model was off by factors of 1 and 1.49: a spread of 1.22.
  EXPECT_EQ(choose_winner(winners, std::log(12.1)), std::nullopt);
  EXPECT_EQ(choose_winner(winners, std::log(12.3)), 0u);
  for (NearWinner& one : winners) one.bias.at_default.reset();  // nobody timed it
  EXPECT_EQ(choose_winner(winners, std::log(1)), 0u);
}

TEST(TransferChoice, WithoutWinnersNoneIsChosen) { EXPECT_EQ(choose_winner({}, 0), std::nullopt); }

}  // namespace
}  // namespace autotune
