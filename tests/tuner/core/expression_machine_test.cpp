// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/tuner/core/evaluated.hpp"

namespace autotune {
namespace {

using testing::error_of;

TEST(ExpressionMachine, OverflowAndDivisionByZeroNameTheColumn) {
  EXPECT_EQ(error_of("9223372036854775807 + 1").column(), 21);
  EXPECT_EQ(error_of("-9223372036854775807 - 2").column(), 22);
  EXPECT_EQ(error_of("4294967296 * 4294967296").column(), 12);
  EXPECT_EQ(error_of("(-9223372036854775807 - 1) / -1").column(), 28);
  EXPECT_EQ(error_of("-(-9223372036854775807 - 1)").column(), 1);
  EXPECT_EQ(error_of("round_up(9223372036854775807, 2)").column(), 1);
  EXPECT_EQ(error_of("8 / 0").column(), 3);
  EXPECT_EQ(error_of("8 % x").column(), 3);
  EXPECT_EQ(error_of("1 + ceil_div(8, x)").column(), 5);
  EXPECT_EQ(error_of("log2(0)").column(), 1);
  EXPECT_STREQ(error_of("M / 0").what(), "division by zero at column 3 of \"M / 0\"");
}

}  // namespace
}  // namespace autotune
