// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/automatic_end.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

constexpr double kLittle = AutomaticEnd::kGain / 2;

TEST(AutomaticEnd, ComesAfterSixteenLowBoundsInARow) {
  AutomaticEnd end;
  EXPECT_FALSE(end.expected());
  end.note(100, 0.2);
  end.note(110, kLittle);
  EXPECT_FALSE(end.is_reached(110 + AutomaticEnd::kInARow - 1));
  EXPECT_TRUE(end.is_reached(110 + AutomaticEnd::kInARow));
  EXPECT_EQ(end.expected(), kLittle);
}

TEST(AutomaticEnd, AHigherBoundRestartsTheCount) {
  AutomaticEnd end;
  end.note(10, 1);
  end.note(100, kLittle);
  end.note(110, AutomaticEnd::kGain);
  EXPECT_FALSE(end.is_reached(200));
  end.note(200, kLittle);
  EXPECT_FALSE(end.is_reached(210));
  EXPECT_TRUE(end.is_reached(200 + AutomaticEnd::kInARow));
}

TEST(AutomaticEnd, AResumedRunNeedsNoFurtherEvaluations) {
  AutomaticEnd end;
  end.note(100, kLittle);
  EXPECT_TRUE(end.is_reached(100));
}

TEST(AutomaticEnd, HasBounds) {
  AutomaticEnd end;
  end.note(1, kLittle);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kFewest - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kFewest));
  end.note(40, 1);
  EXPECT_FALSE(end.is_reached(AutomaticEnd::kMost - 1));
  EXPECT_TRUE(end.is_reached(AutomaticEnd::kMost));
}

}  // namespace
}  // namespace autotune
