// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_values.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace autotune {
namespace {

using testing::ElementsAre;

TEST(RecordedValues, OfPythonAndJson) {
  EXPECT_EQ(value_of(Json(true)), Value(1));
  EXPECT_EQ(value_of(Json(-7)), Value(-7));
  EXPECT_EQ(value_of(Json(2.0)), Value(2));
  EXPECT_EQ(value_of(Json("half")), Value("half"));
  EXPECT_EQ(value_of(Json(0.5)), Value("0.5"));
  EXPECT_EQ(value_of(Json()), Value("null"));
  EXPECT_EQ(value_of(Json::array({1, 2})), Value("[1,2]"));
}

TEST(RecordedValues, ANumberThatFitsNoIntegerIsItsText) {
  const std::uint64_t large = std::uint64_t{1} << 63;
  EXPECT_EQ(value_of(Json(large)), Value("9223372036854775808"));
  EXPECT_EQ(value_of(Json(large - 1)), Value(std::numeric_limits<std::int64_t>::max()));
}

TEST(RecordedValues, AreWrittenAsTheyWereRead) {
  for (const Json& json : {Json(16), Json(0.5), Json("half"), Json("")}) {
    EXPECT_EQ(json_of(value_of(json)), json) << json;
  }
  EXPECT_EQ(json_of(Value("inf")), Json("inf"));  // JSON has no infinity
  EXPECT_EQ(json_of(Value("nan")), Json("nan"));
}

TEST(RecordedValues, RepeatedOnesAreDroppedBehindTheFirst) {
  std::vector<Value> values{Value(4), Value(1), Value(4), Value("a"), Value(1)};
  drop_repeated(values);
  EXPECT_THAT(values, ElementsAre(Value(4), Value(1), Value("a")));
}

TEST(RecordedValues, AParameterHasTheValuesThatOccurInOrder) {
  const Parameter parameter =
      parameter_of("BM", 1, {{Value(9), Value(64)}, {Value(9), Value(16)}, {Value(8), Value(64)}});
  EXPECT_EQ(parameter.name, "BM");
  EXPECT_THAT(parameter.values, ElementsAre(Value(16), Value(64)));
}

}  // namespace
}  // namespace autotune
