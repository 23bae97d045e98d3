// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>

#include "tests/tuner/core/evaluated.hpp"

namespace autotune {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::value_of;

TEST(ExpressionParser, MisspeltTextNamesTheColumn) {
  EXPECT_EQ(error_of("").column(), 1);
  EXPECT_EQ(error_of("  1 +").column(), 6);
  EXPECT_EQ(error_of("1 2").column(), 3);
  EXPECT_EQ(error_of("(1").column(), 3);
  EXPECT_EQ(error_of("1)").column(), 2);
  EXPECT_EQ(error_of("a = b").column(), 3);
  EXPECT_EQ(error_of("a & b").column(), 3);
  EXPECT_EQ(error_of("1.").column(), 2);
  EXPECT_EQ(error_of("2x").column(), 2);
  EXPECT_EQ(error_of("99999999999999999999").column(), 1);
  EXPECT_EQ(error_of("a ? b").column(), 6);
  EXPECT_EQ(error_of("'abc").column(), 1);
  EXPECT_EQ(error_of("a == \"abc").column(), 6);
  EXPECT_EQ(error_of("a < b > c").column(), 7);
  EXPECT_EQ(error_of("a // b").column(), 3);
  EXPECT_EQ(error_of("a ** b").column(), 3);
  EXPECT_EQ(error_of("a in 2").column(), 6);
  EXPECT_EQ(error_of("a == b == c").column(), 8);
  EXPECT_EQ(error_of("gpu.size").column(), 4);
  EXPECT_EQ(error_of("device.").column(), 8);
  EXPECT_EQ(error_of("a \x01").column(), 3);
}

TEST(ExpressionParser, DeepNestingIsRefusedNotAStackOverflow) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "1" + std::string(depth, ')');
  };
  EXPECT_EQ(value_of(nested(50)), 1);
  EXPECT_THAT(error_of(nested(3000)).what(), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(5000, '-').append("1")).what(), HasSubstr("nested too deeply"));
  std::string right = "1";
  for (int i = 0; i < 90; ++i) right = "1 == 1 < 1 + 1 * (" + right + ")";
  EXPECT_THAT(error_of(right).what(), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of(std::string(20000, ' ').append("1")).what(), HasSubstr("too long"));
}

}  // namespace
}  // namespace autotune
