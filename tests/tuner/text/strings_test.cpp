// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/strings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(Strings, TrimmedTakesWhiteSpaceOffBothEndsOnly) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Strings, SplitKeepsEmptyPartsAndBlanks) {
  EXPECT_THAT(split("a, b,,c", ','), ElementsAre("a", " b", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
}

}  // namespace
}  // namespace autotune
