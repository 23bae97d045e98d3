// SPDX-License-Identifier: Apache-2.0
// Quantiles and bounds beside printed tables.
#include "tuner/probability/quantiles.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace autotune {
namespace {

TEST(Quantiles, StudentsTIsThatOfThePrintedTable) {
  EXPECT_NEAR(student_t_quantile(0.995, 1), 63.657, 0.001);
  EXPECT_NEAR(student_t_quantile(0.995, 4), 4.604, 0.001);
  EXPECT_NEAR(student_t_quantile(0.995, 15), 2.947, 0.001);
  EXPECT_NEAR(student_t_quantile(0.995, 100), 2.626, 0.001);
  EXPECT_NEAR(student_t_quantile(0.025, 10), -2.228, 0.001);
}

/// P(Binomial(count, 1/2) < k), added up term by term.
double probability_below(std::size_t k, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const auto n = static_cast<double>(count), x = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) -
                    n * std::log(2.0));
  }
  return sum;
}

TEST(Quantiles, RanksOfTheMedianAreTheLargestThatKeep95Percent) {
  for (std::size_t count = 1; count <= 500; ++count) {
    const std::size_t k = ranks_outside_median_interval(count);
    EXPECT_LE(probability_below(k, count), 0.025) << count;
    EXPECT_GT(probability_below(k + 1, count), 0.025) << count;
  }
}

}  // namespace
}  // namespace autotune
