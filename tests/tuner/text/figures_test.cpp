// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/figures.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(Figures, ADurationHasTheUnitThatAPersonWaitsIn) {
  EXPECT_EQ(duration_text(-1), "0 s");
  EXPECT_EQ(duration_text(42.4), "42 s");
  EXPECT_EQ(duration_text(100), "2 min");
  EXPECT_EQ(duration_text(59 * 60), "59 min");
  EXPECT_EQ(duration_text(2 * 3600 + 10 * 60), "2 h 10 min");
}

}  // namespace
}  // namespace autotune
