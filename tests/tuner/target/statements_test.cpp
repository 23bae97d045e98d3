// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/statements.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(Conjuncts, AreWhatAndJoins) {
  EXPECT_THAT(conjuncts_of("a < b"), ElementsAre("a < b"));
  EXPECT_THAT(conjuncts_of("a and (b and c) && d"), ElementsAre("a ", " (b and c) ", " d"));
  EXPECT_THAT(conjuncts_of("m == 'and' and band"), ElementsAre("m == 'and' ", " band"));
  EXPECT_THAT(conjuncts_of("a  # this and that\n  and b"),
              ElementsAre("a  # this and that\n  ", " b"));
}

TEST(Conjuncts, OfAConclusionHaveTheConditionEach) {
  EXPECT_THAT(conjuncts_of("p and q implies a and b"),
              ElementsAre("p and q implies a ", "p and q implies b"));
}

TEST(Conjuncts, OfAnythingLooserAreNone) {
  for (const char* text :
       {"a and b or c", "a and b || c", "c ? a and b : d", "p implies q implies a and b"}) {
    EXPECT_THAT(conjuncts_of(text), ElementsAre(text));
  }
}

}  // namespace
}  // namespace autotune
