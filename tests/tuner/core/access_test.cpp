// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using testing::HasSubstr;

std::string access_error(std::string_view line) {
  try {
    parse_access(line);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Access, ALineHasABufferAndAnIndex) {
  const AccessSpec access = parse_access("  store y[bx * BLOCK + tx] ");
  EXPECT_TRUE(access.store);
  EXPECT_EQ(access.buffer, "y");
  EXPECT_EQ(access.index.text(), "bx * BLOCK + tx");
  EXPECT_EQ(access.text, "store y[bx * BLOCK + tx]");
  EXPECT_FALSE(access.wide || access.times || access.when);
}

TEST(Access, ClausesStandInAnyOrder) {
  const AccessSpec access = parse_access("load x[tx] when GRID == 'times' times ITEMS wide 2 * V");
  EXPECT_FALSE(access.store);
  EXPECT_EQ(access.times->text(), "ITEMS");
  EXPECT_EQ(access.wide->text(), "2 * V");
}

TEST(Access, AWordInQuotesIsNoClause) {
  EXPECT_EQ(parse_access("load x[tx] when GRID == 'times'").when->text(), "GRID == 'times'");
}

TEST(Access, ErrorsShowTheLineAndWhatIsWrong) {
  EXPECT_THAT(access_error("read x[tx]"), HasSubstr("\"read x[tx]\": an access begins with load"));
  EXPECT_THAT(access_error("load [tx]"), HasSubstr("name of a buffer is missing"));
  EXPECT_THAT(access_error("load x"), HasSubstr("an index in brackets is missing"));
  EXPECT_THAT(access_error("load x[tx"), HasSubstr("']' is missing"));
  EXPECT_THAT(access_error("load x[tx] often"), HasSubstr("not \"often\""));
  EXPECT_THAT(access_error("load x[tx] times 2 times 3"), HasSubstr("times stands twice"));
  EXPECT_THAT(access_error("load x[tx +]"), HasSubstr("\"load x[tx +]\""));
  EXPECT_NE(access_error("load x[tx] times"), "");
}

}  // namespace
}  // namespace autotune
