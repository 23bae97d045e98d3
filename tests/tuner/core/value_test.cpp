// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/value.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Value, ReadsIntegersAndWords) {
  EXPECT_EQ(parse_value("128"), Value(128));
  EXPECT_EQ(parse_value("-3"), Value(-3));
  EXPECT_EQ(parse_value("register"), Value("register"));
  EXPECT_EQ(parse_value("12a"), Value("12a"));
  EXPECT_EQ(parse_value("99999999999999999999"), Value("99999999999999999999"));
}

TEST(Value, RealNumbersAreReadBackAsWritten) {
  for (const double real : {0.5, 1.0, -2.5, 0.1, 1e-7, 1e20, 123456789.0}) {
    EXPECT_EQ(parse_value(Value(real).text()), Value(real)) << Value(real).text();
  }
  EXPECT_EQ(Value(1.0).text(), "1.0");
  EXPECT_EQ(Value(1e-7).text(), "1.0e-07");
  EXPECT_EQ(parse_value("inf"), Value("inf"));
  EXPECT_EQ(parse_value("e5"), Value("e5"));
}

TEST(Value, IsMeantByWhatAPersonWrites) {
  EXPECT_EQ(*meant_value({0.5, 1.0}, 1), Value(1.0));
  EXPECT_EQ(*meant_value({0, 1}, "true"), Value(1));
  EXPECT_EQ(meant_value({0, 2}, "true"), nullptr);
  EXPECT_EQ(meant_value({1, 2}, 1.0), nullptr);
}

TEST(Value, AWordsCodeIsNeverNegativeAndDiffersByLetters) {
  EXPECT_GE(word_code("none"), 0);
  EXPECT_NE(word_code("none"), word_code("nonf"));
  EXPECT_EQ(Value("none").code(), word_code("none"));
  EXPECT_EQ(Value(7).code(), 7);
}

TEST(NamedValues, TextIsReadBackAsWritten) {
  const NamedValues values = {{"BM", 128}, {"PREFETCH", "register"}};
  EXPECT_EQ(to_text(values), "BM=128 PREFETCH=register");
  EXPECT_EQ(parse_named_values(to_text(values)), values);
  EXPECT_TRUE(parse_named_values("").empty());
  EXPECT_THROW(parse_named_values("BM"), Error);
  EXPECT_THROW(parse_named_values("=3"), Error);
}

TEST(NamedValues, AreFoundByName) {
  const NamedValues values = {{"BM", 128}};
  ASSERT_NE(find_value(values, "BM"), nullptr);
  EXPECT_EQ(*find_value(values, "BM"), Value(128));
  EXPECT_EQ(find_value(values, "BN"), nullptr);
}

TEST(NamedValues, HaveAllOfOthersInAnyOrder) {
  const NamedValues values = {{"BM", 128}, {"BN", 64}, {"PREFETCH", "none"}};
  EXPECT_TRUE(has_all(values, {{"PREFETCH", "none"}, {"BM", 128}}));
  EXPECT_TRUE(has_all(values, {}));
  EXPECT_FALSE(has_all(values, {{"BM", 64}}));
  EXPECT_FALSE(has_all(values, {{"BK", 8}}));
}

}  // namespace
}  // namespace autotune
