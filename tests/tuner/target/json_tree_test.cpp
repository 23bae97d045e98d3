// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

TEST(JsonTree, ValuesHaveTheirKindsAndKeys) {
  const Node root = json(R"({"z": "x", "a": [-3, 0.5, true], "m": {"g": 1e3}, "n": {}})");
  ASSERT_EQ(root.members().size(), 4u);
  EXPECT_EQ(root.members().front().name, "z") << "in the order of the document";
  EXPECT_EQ(root["a"].items()[0].integer(), -3);
  EXPECT_EQ(root["a"].items()[1].real(), 0.5);
  EXPECT_TRUE(root["a"].items()[2].flag());
  EXPECT_EQ(root["a"].items()[2].key(), "a[2]");
  EXPECT_EQ(root["m"]["g"].real(), 1000);
  EXPECT_EQ(root["m"]["g"].key(), "m.g");
  EXPECT_TRUE(root["n"].members().empty());
}

TEST(JsonTree, IntegersHave64Bits) {
  EXPECT_EQ(json(R"({"a": 9223372036854775807})")["a"].integer(), 9223372036854775807);
  EXPECT_EQ(json(R"({"a": -9223372036854775808})")["a"].integer(),
            std::numeric_limits<std::int64_t>::min());
  for (const char* const number :
       {"9223372036854775808", "-9223372036854775809", "100000000000000000000"}) {
    EXPECT_THAT([&] { json("{\"a\": [1, " + std::string(number) + "]}"); },
                ThrowsMessage<Error>(StartsWith("a.json:1:11: a[1]: the number does not fit")))
        << number;
  }
  EXPECT_EQ(json(R"({"a": 1E20})")["a"].real(), 1e20);
}

TEST(JsonTree, NullIsRefusedWithItsPlace) {
  EXPECT_THAT([] { json("{\n\"a\": null}"); },
              ThrowsMessage<Error>(StartsWith("a.json:2:6: a: a manifest has no null")));
}

TEST(JsonTree, AByteOrderMarkHidesNoMistake) {
  EXPECT_THAT([] { json("\xEF\xBB\xBF{\"a\": 1,\n \"a\": 2}"); },
              ThrowsMessage<Error>(StartsWith("a.json:2:2: the key \"a\" occurs twice")));
}

TEST(JsonTree, ATextWithEscapesHasNoPlaceWithin) {
  const Node root = json(R"({"plain": "N + 1", "escaped": "N \u002b 1"})");
  EXPECT_TRUE(root["plain"].has_place());
  EXPECT_FALSE(root["escaped"].has_place());
  EXPECT_EQ(root["escaped"].text(), "N + 1");
}

}  // namespace
}  // namespace autotune
