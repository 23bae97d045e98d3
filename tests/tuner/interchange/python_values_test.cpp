// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/python_values.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

std::vector<std::int64_t> integers(std::string_view text) {
  std::vector<std::int64_t> values;
  for (const PythonConstant& each : python_list(text)) {
    values.push_back(std::get<std::int64_t>(each));
  }
  return values;
}

std::string value_refusal(std::string_view text) {
  try {
    python_list(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PythonValues, ListsRangesAndTheirSums) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(integers("[16, 32, -1]"), (Values{16, 32, -1}));
  EXPECT_EQ(integers("[1, 2] + list(range(32, 97, 32))"), (Values{1, 2, 32, 64, 96}));
  EXPECT_EQ(integers("range(3)"), (Values{0, 1, 2}));
  EXPECT_EQ(integers("range(4, 0, -2)"), (Values{4, 2}));
  EXPECT_EQ(integers("(8,)"), (Values{8}));
}

TEST(PythonValues, Comprehensions) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(integers("[2**i for i in range(0, 4)]"), (Values{1, 2, 4, 8}));
  EXPECT_EQ(integers("[i for i in range(1, 5) if i % 2 == 0]"), (Values{2, 4}));
  EXPECT_EQ(integers("list(32 * i for i in range(1, 3))"), (Values{32, 64}));
}

TEST(PythonValues, WordsAndRealNumbers) {
  EXPECT_EQ(python_list("[\"float\", 'half']")[1], PythonConstant("half"));
  EXPECT_EQ(python_list("[0.5, 3/2]")[1], PythonConstant(1.5));
  EXPECT_EQ(integers("[int(-1.5), int(2)]"), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(python_list("[-7 // 2, -7 % 4]"),
            (std::vector<PythonConstant>{std::int64_t{-4}, std::int64_t{1}}));
}

TEST(PythonValues, WhatIsNotUnderstoodIsRefused) {
  EXPECT_THAT(value_refusal("3"), HasSubstr("it is not a list"));
  EXPECT_THAT(value_refusal("[x]"), HasSubstr("x is not a constant"));
  EXPECT_THAT(value_refusal("open('x')"), HasSubstr("the function open"));
  EXPECT_THAT(value_refusal("range(10**18)"), HasSubstr("over 65536 values"));
  EXPECT_THAT(value_refusal("[2**64]"), HasSubstr("exponent"));
  EXPECT_THAT(value_refusal("[2**62 * 4]"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(value_refusal("[int(1e300)]"), HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(value_refusal("range(0.5)"), HasSubstr("0.5 is not an integer"));
  EXPECT_THAT(value_refusal("range('a')"), HasSubstr("'a' is text, not a number"));
  EXPECT_THAT(value_refusal("[[1, 2] * 2]"), HasSubstr("lists support only"));
  EXPECT_THAT(value_refusal("[1 // 0]"), HasSubstr("division by zero"));
  EXPECT_THAT(value_refusal("range(1, 2, 0)"), HasSubstr("step"));
}

}  // namespace
}  // namespace autotune
