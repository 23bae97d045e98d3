// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::StartsWith;

std::string message_of(const std::string& text) {
  try {
    parse_json(text, "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
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

TEST(Json, TextThatIsNoUtf8IsWrittenWithReplacements) {
  EXPECT_EQ(json_text(Json{{"a", "x\xFFy\xC3"}}), "{\n  \"a\": \"x\xEF\xBF\xBDy\xEF\xBF\xBD\"\n}");
}

}  // namespace
}  // namespace autotune
