// SPDX-License-Identifier: Apache-2.0
// The table of expected improvements, against the formula.
#include "tuner/search/expected_improvement.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace autotune {
namespace {

TEST(ExpectedImprovement, AgreesWithTheFormula) {
  const ExpectedImprovement improvement;
  for (const double z : {-5.0, -2.5, -1.0, 0.0, 0.7, 3.0, 8.0}) {
    const double exact =
        z * 0.5 * std::erfc(-z / std::sqrt(2.0)) + std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    EXPECT_NEAR(improvement.h(static_cast<float>(z)) / exact, 1, 1e-3) << z;
  }
  EXPECT_EQ(improvement.h(-20), 0);
  EXPECT_EQ(improvement.h(std::nanf("")), 0);
}

}  // namespace
}  // namespace autotune
