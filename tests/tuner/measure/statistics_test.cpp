// SPDX-License-Identifier: Apache-2.0
// Medians, intervals, ratios and outliers, on numbers that a reader can check by hand.
#include "tuner/measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "bench/measure/simulated_timer.hpp"
#include "tuner/probability/quantiles.hpp"

namespace autotune {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Summarize, OneSlowOutlierMovesNeitherMedianNorIntervalAndIsCounted) {
  std::vector<double> times(41, 2e-3);
  times[7] = 1.0;
  const Measurement measurement = summarize(times);
  EXPECT_DOUBLE_EQ(measurement.median, 2e-3);
  EXPECT_DOUBLE_EQ(measurement.high, 2e-3);
  EXPECT_EQ(measurement.samples, 41);
  EXPECT_EQ(measurement.outliers, 1);
}

TEST(Summarize, TheOrderDoesNotMatterAndAnEvenCountTakesTheMiddleOfTwo) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{4, 1, 3, 2}).median, 2.5);
}

TEST(Summarize, TheIntervalIsTheRanksOfTheBinomialTable) {
  // 95 % for the median of 10: the 2nd and the 9th; of 20: the 6th and the 15th; of 40: 14th, 27th.
  EXPECT_EQ(summarize(one_to(10)).low, 2);
  EXPECT_EQ(summarize(one_to(10)).high, 9);
  EXPECT_EQ(summarize(one_to(20)).low, 6);
  EXPECT_EQ(summarize(one_to(20)).high, 15);
  EXPECT_EQ(summarize(one_to(40)).low, 14);
  EXPECT_EQ(summarize(one_to(40)).high, 27);
}

TEST(Summarize, BelowSixSamplesTheConfidenceIsThatOfTheRange) {
  EXPECT_EQ(ranks_outside_median_interval(kFewestForInterval), 1u);
  EXPECT_EQ(ranks_outside_median_interval(kFewestForInterval - 1), 0u);
  EXPECT_EQ(interval_level(1), 0);
  EXPECT_EQ(interval_level(2), 0.5);
  EXPECT_EQ(interval_level(5), 0.9375);
  EXPECT_EQ(interval_level(6), 0.95);
}

TEST(PairedRatio, OfFewerThanSixPairsShowsNothing) {
  const std::vector<double> fast(5, 1.0), slow(5, 6.0);
  EXPECT_FALSE(is_clearly_below_one(paired_ratio(fast, slow)));
  EXPECT_TRUE(
      is_clearly_below_one(paired_ratio(std::vector<double>(6, 1.0), std::vector<double>(6, 6.0))));
  EXPECT_FALSE(is_clearly_below_one(Ratio{}));
}

TEST(Summarize, FewSamplesGiveTheWholeRange) {
  EXPECT_EQ(summarize(one_to(5)).low, 1);
  EXPECT_EQ(summarize(one_to(5)).high, 5);
  const Measurement one = summarize(one_to(1));
  EXPECT_EQ(one.low, 1);
  EXPECT_EQ(one.median, 1);
  EXPECT_EQ(one.high, 1);
}

TEST(Summarize, TheIntervalHoldsTheTrueMedianInAbout95PercentOfSets) {
  SimulatedDevice random({}, 1);
  for (const int samples : {12, 40, 250}) {
    int held = 0;
    for (int set = 0; set < 2000; ++set) {
      std::vector<double> values(samples);
      for (double& value : values) value = 10 + random.normal();
      const Measurement m = summarize(values);
      held += m.low <= 10 && 10 <= m.high;
    }
    EXPECT_GE(held, 2000 * 0.94) << samples;
    EXPECT_LE(held, 2000 * 0.985) << samples;
  }
}

TEST(RelativeHalfWidth, IsStudentsIntervalOverTheMean) {
  // Mean 10, standard error 1 (deviations -2, 0, 0, 2 give variance 8/3, over 4), t(3) = 5.841.
  const std::vector<double> values{8, 10, 10, 12};
  EXPECT_NEAR(standard_error(values), std::sqrt(8.0 / 3 / 4), 1e-12);
  EXPECT_NEAR(relative_half_width(values), 5.841 * std::sqrt(8.0 / 3 / 4) / 10, 1e-4);
}

TEST(RelativeHalfWidth, IsInfiniteForOneSampleAndZeroForEqualOnes) {
  EXPECT_TRUE(std::isinf(relative_half_width(one_to(1))));
  EXPECT_EQ(relative_half_width(std::vector<double>(4, 3.0)), 0);
}

TEST(PairedRatio, CancelsWhatBothSuffered) {
  const std::vector<double> slow{2.04, 4.08, 20.4, 1.02, 2.04, 2.04}, fast{2, 4, 20, 1, 2, 2};
  const Ratio ratio = paired_ratio(slow, fast);
  EXPECT_NEAR(ratio.median, 1.02, 1e-12);
  EXPECT_NEAR(ratio.low, 1.02, 1e-12);
  EXPECT_NEAR(ratio.high, 1.02, 1e-12);
}

TEST(PairedRatio, TheOtherWayRoundIsTheReciprocal) {
  const std::vector<double> a{1, 2, 3, 4, 5, 7}, b{2, 2, 2, 3, 9, 1};
  EXPECT_NEAR(paired_ratio(a, b).median * paired_ratio(b, a).median, 1, 1e-12);
  EXPECT_NEAR(paired_ratio(a, b).low * paired_ratio(b, a).high, 1, 1e-12);
}

TEST(CountOutliers, CountsOnlyTimesFarAbove) {
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1, 1, 1, 1.009, 0.5}), 0);
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1, 1, 1, 1.011, 3}), 2);
  EXPECT_EQ(count_outliers(std::vector<double>{1, 1.1, 1.2, 1.3, 1.4}), 0);
}

}  // namespace
}  // namespace autotune
