// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/automatic_end.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace autotune {
namespace {

constexpr double kLittle = AutomaticEnd::kGain / 2;

/// So many evaluations, the first of them the best.
std::vector<Evaluation> steady(std::size_t count) {
  std::vector<Evaluation> known(count);
  for (Evaluation& one : known) one.seconds = 1;
  return known;
}

TEST(AutomaticEnd, ComesAfterSixteenLowBoundsInARow) {
  AutomaticEnd end(false);
  EXPECT_FALSE(end.expected());
  end.note(steady(100), 0.2);
  end.note(steady(110), kLittle);
  EXPECT_FALSE(end.is_reached(110 + AutomaticEnd::kInARow - 1));
  EXPECT_TRUE(end.is_reached(110 + AutomaticEnd::kInARow));
  EXPECT_EQ(end.expected(), kLittle);
}

TEST(AutomaticEnd, AHigherBoundRestartsTheCount) {
  AutomaticEnd end(false);
  end.note(steady(10), 1);
  end.note(steady(100), kLittle);
  end.note(steady(110), AutomaticEnd::kGain);
  EXPECT_FALSE(end.is_reached(200));
  end.note(steady(200), kLittle);
  EXPECT_FALSE(end.is_reached(210));
  EXPECT_TRUE(end.is_reached(200 + AutomaticEnd::kInARow));
}

TEST(AutomaticEnd, AResumedRunNeedsNoFurtherEvaluations) {
  AutomaticEnd end(false);
  end.note(steady(100), kLittle);
  EXPECT_TRUE(end.is_reached(100));
}

TEST(AutomaticEnd, HasBounds) {
  AutomaticEnd end(false);
  end.note(steady(1), kLittle);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kFewest - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kFewest));
  end.note(steady(40), 1);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kMost - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kMost));
}

TEST(AutomaticEnd, WithHintsItDoesNotWaitForLongForWhatTheBoundPromises) {
  constexpr std::size_t kLast = 20;
  std::vector<Evaluation> known = steady(50);
  known[kLast - 1].seconds = 0.9;
  known[kLast + 5].seconds = 0.9 * (1 - AutomaticEnd::kGain / 2);  // no gain worth the name
  known[kLast + 9] = {.index = 0, .outcome = Outcome::wrong};
  AutomaticEnd end(true), without(false);
  end.note(known, 1);
  without.note(known, 1);
  const std::size_t last = 2 * kLast + AutomaticEnd::kPatience;
  EXPECT_FALSE(end.is_reached(last - 1));
  EXPECT_TRUE(end.is_reached(last));
  EXPECT_FALSE(without.is_reached(last));
}

TEST(AutomaticEnd, WithoutATimeThereIsNothingToWaitFor) {
  AutomaticEnd end(true);
  end.note(std::vector<Evaluation>(150), 1);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kMost - 1));
}

}  // namespace
}  // namespace autotune
