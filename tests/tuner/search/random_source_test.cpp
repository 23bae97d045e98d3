// SPDX-License-Identifier: Apache-2.0
// Random numbers, against the published generator.
#include "tuner/search/random_source.hpp"

#include <gtest/gtest.h>

#include <set>

namespace autotune {
namespace {

TEST(RandomSource, IsSplitMix64) {
  // The second and third output of the authors' generator for seed 0; the first is skipped.
  RandomSource random(0);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random.next(), 0x06c45d188009454fu);
}

TEST(RandomSource, UniformNumbersFillTheUnitInterval) {
  RandomSource random(3);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double number = random.uniform();
    ASSERT_TRUE(number >= 0 && number < 1) << number;
    sum += number;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);  // five deviations of the mean
}

TEST(RandomSource, ShufflesEveryIndexOnceAndDiffersBySeed) {
  RandomSource one(1);
  RandomSource two(2);
  const auto first = random_order(100, one);
  EXPECT_NE(first, random_order(100, two));
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 100u);
}

}  // namespace
}  // namespace autotune
