// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lessons.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace autotune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Lessons, OfTheFourNearestProblemsAreGivenOnce) {
  Lessons lessons;
  for (const int n : {1, 2, 4, 8, 16, 1024}) lessons.add({{"N", n}}, std::to_string(n));
  std::set<std::size_t> known;
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), ElementsAre("1024", "16", "8", "4"));
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), IsEmpty());
  EXPECT_THAT(lessons.about({{"N", 1}}, known), ElementsAre("1", "2"));
}

}  // namespace
}  // namespace autotune
