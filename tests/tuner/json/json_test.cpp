// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + "1" +
         std::string(static_cast<std::size_t>(depth), ']');
}

TEST(Json, IsReadWithCommentsToABoundedDepth) {
  EXPECT_EQ(parse_json("{\"a\": 1} // [[", "x"), Json({{"a", 1}}));
  EXPECT_EQ(parse_json(nested(kDeepestJson), "x").dump(), nested(kDeepestJson));
  for (const int depth : {kDeepestJson + 1, 1'000'000}) {
    EXPECT_THAT([&] { parse_json(nested(depth), "x"); },
                ThrowsMessage<Error>("x: arrays and objects are nested more than 100 deep"));
  }
}

TEST(Json, WhatIsWrongIsSaidInPlainWords) {
  EXPECT_THAT([] { parse_json("{\n \"a\": }", "x"); },
              ThrowsMessage<Error>(StartsWith("x: parse error at line 2")));
  EXPECT_THAT([] { parse_json("[1e400]", "x"); },
              ThrowsMessage<Error>(StartsWith("x: number overflow")));
}

/// What parse_cbor() makes of the bytes.
std::optional<Json> parsed(const std::vector<std::uint8_t>& bytes) {
  return parse_cbor(std::string(bytes.begin(), bytes.end()));
}

TEST(Json, CborIsReadToABoundedDepth) {
  const Json some = {{"a", {1, -2, 1.5, "x", nullptr, true}}};
  EXPECT_EQ(parsed(Json::to_cbor(some)), some);
  for (const std::size_t depth : {101, 10'000'000}) {
    EXPECT_EQ(parsed(std::vector<std::uint8_t>(depth, 0x81)), std::nullopt);  // arrays of one
    EXPECT_EQ(parsed(std::vector<std::uint8_t>(depth, 0x9f)), std::nullopt);  // open-ended ones
  }
  EXPECT_EQ(parsed({}), std::nullopt);
  EXPECT_EQ(parsed({0x01, 0x01}), std::nullopt);  // two values
  EXPECT_EQ(parsed({0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), std::nullopt);
}

}  // namespace
}  // namespace autotune
