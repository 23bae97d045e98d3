// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/json_places.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::shared_ptr<const Document> document(const std::string& text) {
  return std::make_shared<const Document>(Document{"m.json", text, false});
}

/// What an error of the value at `path` says.
std::string error_at(const std::string& text, const std::string& path,
                     Node::Kind kind = Node::Kind::integer) {
  const auto source = document(text);
  Node node(kind, source, path);
  JsonPlaces(source).place(node);
  try {
    node.fail("no");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr const char* kText = R"({
  "name": "x",  // a comment, with "quotes": 1
  "kernels": [{"grid": [1, 2]},
              {"grid": [ 3 ], "a \"b\"": {"c": true}}],
  /* "name": "y" */ "last": -1.5e3
})";

TEST(JsonPlaces, EveryValueHasItsLineAndColumn) {
  EXPECT_THAT(error_at(kText, "name"), StartsWith("m.json:2:11: "));
  EXPECT_THAT(error_at(kText, "kernels", Node::Kind::list), StartsWith("m.json:3:14: "));
  EXPECT_THAT(error_at(kText, "kernels[0].grid[1]"), StartsWith("m.json:3:28: "));
  EXPECT_THAT(error_at(kText, "kernels[1].grid[0]"), StartsWith("m.json:4:26: "));
  EXPECT_THAT(error_at(kText, "last", Node::Kind::real), StartsWith("m.json:5:29: "));
}

TEST(JsonPlaces, APathThatIsNotThereHasNoPlace) {
  EXPECT_THAT(error_at(kText, "kernels[2]"), StartsWith("m.json: kernels[2]: "));
}

TEST(JsonPlaces, AKeyStandsOnceInAnObject) {
  EXPECT_NO_THROW(JsonPlaces(document(R"({"a": {"x": 1}, "b": {"x": 1}})")));
  try {
    const JsonPlaces places(document("{\"a\": 1,\n \"b\": 2, \"a\": 3}"));
    ADD_FAILURE() << "it was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("m.json:2:10: "));
    EXPECT_THAT(error.what(), HasSubstr("\"a\" occurs twice"));
  }
}

}  // namespace
}  // namespace autotune
