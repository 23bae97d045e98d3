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

TEST(Strings, TakesAnIdentifierFromTheFront) {
  std::string_view text = "BLOCK_2 = 3";
  EXPECT_EQ(take_identifier(text), "BLOCK_2");
  EXPECT_EQ(text, " = 3");
  EXPECT_EQ(take_identifier(text), "");
  EXPECT_EQ(text, " = 3");
  text = "\xC3\xA9";  // a letter, but not of ASCII
  EXPECT_EQ(take_identifier(text), "");
}

TEST(Strings, FindsWhatFollowsParentheses) {
  EXPECT_EQ(after_parentheses("(a, (b), c) d)"), " d)");
  EXPECT_EQ(after_parentheses("()"), "");
  EXPECT_EQ(after_parentheses("((a)"), "");
  EXPECT_EQ(after_parentheses(""), "");
}

TEST(Strings, SplitKeepsEmptyPartsAndBlanks) {
  EXPECT_THAT(split("a, b,,c", ','), ElementsAre("a", " b", "", "c"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
}

}  // namespace
}  // namespace autotune
