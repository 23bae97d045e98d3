// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/budget.hpp"

#include <gtest/gtest.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Budget, ReadsEvaluationsShareAndTime) {
  EXPECT_EQ(parse_budget("200").evaluations(1000), 200u);
  EXPECT_EQ(parse_budget("200").evaluations(50), 50u);
  EXPECT_EQ(parse_budget("10%").evaluations(1000), 100u);
  EXPECT_EQ(parse_budget("0.1%").evaluations(100), 1u);
  EXPECT_EQ(parse_budget("60s").evaluations(1000), 1000u);
  EXPECT_DOUBLE_EQ(parse_budget("2m").amount, 120);
  EXPECT_EQ(parse_budget("auto").evaluations(100000), 400u);
  EXPECT_EQ(parse_budget("auto").evaluations(50), 50u);
}

TEST(Budget, RefusesEverythingElse) {
  for (const char* text :
       {"", "0", "-3", "1.5", "200x", "101%", "s", "inf", "nan%", "10 %", "automatic"}) {
    EXPECT_THROW(parse_budget(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace autotune
