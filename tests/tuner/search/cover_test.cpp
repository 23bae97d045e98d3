// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/cover.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kNever = std::numeric_limits<double>::infinity();
using Ratios = std::vector<std::vector<double>>;

TEST(Cover, OneConfigurationThatServesAllIsEnough) {
  const Ratios ratios{{1.0, 1.2, 1.0}, {1.04, 1.0, 1.05}, {1.3, 1.0, 1.0}};
  const Cover cover = smallest_cover(ratios, 1.05);
  EXPECT_THAT(cover.chosen, ElementsAre(1));
  EXPECT_TRUE(cover.is_least);
}

TEST(Cover, AmongEquallyUsefulOnesTheFasterIsChosen) {
  EXPECT_THAT(smallest_cover(Ratios{{1.04, 1.04}, {1.01, 1.02}}, 1.05).chosen, ElementsAre(1));
}

TEST(Cover, BranchAndBoundImprovesOnGreedy) {
  // Greedy takes the candidate of 4 first, and needs 3; the other two serve all 6.
  const double x = 1.0, o = 2.0;
  const Ratios ratios{{x, x, o, x, x, o}, {x, x, x, o, o, o}, {o, o, o, x, x, x}};
  const Cover cover = smallest_cover(ratios, 1.05);
  EXPECT_THAT(cover.chosen, ElementsAre(1, 2));
  EXPECT_TRUE(cover.is_least);
}

TEST(Cover, ListsProblemsThatNoCandidateServes) {
  const Cover cover = smallest_cover(Ratios{{1.0, kNever}, {2.0, kNever}}, 1.05);
  EXPECT_THAT(cover.chosen, ElementsAre(0));
  EXPECT_THAT(cover.uncovered, ElementsAre(1));
  EXPECT_THAT(smallest_cover(Ratios{}, 1.05).chosen, IsEmpty());
}

TEST(Cover, AWiderLimitNeedsFewer) {
  const Ratios ratios{{1.0, 1.5, 3.0}, {1.5, 1.0, 1.4}, {3.0, 1.6, 1.0}};
  EXPECT_THAT(smallest_cover(ratios, 1.0).chosen, SizeIs(3));
  EXPECT_THAT(smallest_cover(ratios, 1.45).chosen, SizeIs(2));
  EXPECT_THAT(smallest_cover(ratios, 1.5).chosen, ElementsAre(1));
}

}  // namespace
}  // namespace autotune
