// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/logical_lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace autotune {
namespace {

/// `number: text`, for each line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (const LogicalLine& line : logical_lines(text)) {
    lines.push_back(std::to_string(line.number) + ": " + line.text);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LogicalLines, AContinuedLineIsOneWithTheNumberOfItsFirst) {
  EXPECT_EQ(lines_of("a\\\nb\\\r\nc\nd"), (Lines{"1: abc", "4: d"}));
}

TEST(LogicalLines, ACommentIsABlank) {
  EXPECT_EQ(lines_of("a/* b */c // d\ne"), (Lines{"1: a c  ", "2: e"}));
  EXPECT_EQ(lines_of("a/*\n\n*/b\nc"), (Lines{"1: a b", "4: c"}));
  EXPECT_EQ(lines_of("a // b\\\nc\nd"), (Lines{"1: a  ", "3: d"}));
}

TEST(LogicalLines, NothingInAQuoteIsAComment) {
  EXPECT_EQ(lines_of("\"/*\" a"), (Lines{"1: \"/*\" a"}));
  EXPECT_EQ(lines_of("\"\\\"//\" a"), (Lines{"1: \"\\\"//\" a"}));
  EXPECT_EQ(lines_of("'\"' // a"), (Lines{"1: '\"'  "}));
}

TEST(LogicalLines, AQuoteEndsWithItsLine) {
  EXPECT_EQ(lines_of("a 't\n// b"), (Lines{"1: a 't", "2:  "}));
}

TEST(LogicalLines, AnApostropheBetweenDigitsBeginsNoQuote) {
  EXPECT_EQ(lines_of("1'000 // a"), (Lines{"1: 1'000  "}));
}

TEST(LogicalLines, ARawStringIsEmptyAndItsLinesCount) {
  EXPECT_EQ(lines_of("R\"x(\n#if\n)\" )x\" a\nb"), (Lines{"1: R\"\" a", "4: b"}));
  EXPECT_EQ(lines_of("R\"x(never ended\n"), (Lines{"1: R\"\""}));
}

}  // namespace
}  // namespace autotune
