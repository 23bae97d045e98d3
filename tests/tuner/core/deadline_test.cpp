// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/deadline.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(Deadline, IsNeverUnlessOneIsGiven) {
  EXPECT_FALSE(Deadline().is_set());
  EXPECT_FALSE(Deadline().has_passed());
  EXPECT_GT(Deadline().seconds_left(), 1e9);
  EXPECT_FALSE(Deadline().after(0.5).is_set());
  EXPECT_FALSE(Deadline().plus(1).is_set());
}

TEST(Deadline, PassesWhenItsSecondsAreOver) {
  EXPECT_TRUE(Deadline::in(-1).has_passed());
  EXPECT_FALSE(Deadline::in(1000).has_passed());
  EXPECT_NEAR(Deadline::in(1000).after(0.5).seconds_left(), 500, 100);
  EXPECT_NEAR(Deadline::in(1000).plus(500).seconds_left(), 1500, 100);
  EXPECT_TRUE(Deadline::in(-1000).after(0.5).has_passed());
  EXPECT_FALSE(Deadline::in(1e300).has_passed()) << "no overflow";
}

}  // namespace
}  // namespace autotune
