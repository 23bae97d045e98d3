// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

std::string message_of(const std::string& text) {
  return thrown_by([&] { parse_json(text, "x.json"); });
}

TEST(Json, AnErrorNamesFileLineAndColumn) {
  EXPECT_EQ(message_of("{\n  \"a\": tru\n}"),
            "x.json: parse error at line 2, column 11: syntax error while parsing value - invalid "
            "literal; last read: '\"a\": tru'");
  EXPECT_THAT(message_of("{// a\n// b\n  \"a\" 1}"),
              StartsWith("x.json: parse error at line 3, column 7"));
  EXPECT_THAT(message_of(""), StartsWith("x.json: parse error at line 1, column 1"));
  EXPECT_THAT(message_of("[1,"), StartsWith("x.json: parse error at line 1, column 3"));
}

TEST(Json, ANumberThatIsTooLargeIsAnErrorLikeAnyOther) {
  EXPECT_EQ(message_of("1e400"),
            "x.json: parse error at line 1, column 1: the number 1e400 is too large");
  EXPECT_EQ(message_of("{\"1e400\": 1, // 1e400\n  \"a\": [2, -1e400]}"),
            "x.json: parse error at line 2, column 12: the number -1e400 is too large");
}

TEST(Json, AZeroInATextIsRefusedSinceItWouldCutMessages) {
  for (const char* text : {R"({"a": ["b\u0000c"]})", R"({"b\u0000c": 1})"}) {
    EXPECT_EQ(message_of(text), "x.json: a text has \\u0000 after \"b\": leave it out");
  }
}

TEST(Json, AZeroByteIsNotTheEndOfADocument) {
  EXPECT_EQ(message_of(std::string("// a\n2\0 {", 9)),
            "x.json: parse error at line 2, column 2: a zero byte: leave it out");
}

TEST(Json, TextThatIsNoUtf8IsWrittenWithReplacements) {
  EXPECT_EQ(json_text(Json{{"a", "x\xFFy\xC3"}}), "{\n  \"a\": \"x\xEF\xBF\xBDy\xEF\xBF\xBD\"\n}");
}

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

TEST(CheckedJson, AValueOfAnotherTypeIsToldWithItsPath) {
  const Json json = Json::parse(R"({"text": "x", "list": [1, {"in": null}]})");
  const CheckedJson root(json, "x.json");
  EXPECT_EQ(root["text"].text(), "x");
  EXPECT_EQ(root["list"].items().at(0).json(), 1);
  EXPECT_FALSE(root.find("none"));
  const auto expect = [](auto&& work, const char* what) {
    EXPECT_THAT(work, ThrowsMessage<Error>(StartsWith(what)));
  };
  expect([&] { root["list"].text(); }, "x.json: list: expected a text in quotes, got array");
  expect([&] { root["text"]["below"]; }, "x.json: text: expected an object, got string");
  expect([&] { root["text"].items(); }, "x.json: text: expected an array, got string");
  expect([&] { root["list"].items(3); }, "x.json: list: has 2 items, expected 3 or more");
  expect([&] { root["list"].items().at(1)["in"].members(); },
         "x.json: list[1].in: expected an object, got null");
  expect([&] { root["none"]; }, "x.json: \"none\" is missing");
}

}  // namespace
}  // namespace autotune
