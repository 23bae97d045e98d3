// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tuner/core/error.hpp"
#include "tuner/target/node.hpp"

namespace autotune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

Node tree(std::string text) {
  return tree_of_toml(std::make_shared<Document>(Document{"a.toml", std::move(text)}));
}

std::string failure_at(const Node& node, std::size_t offset = Node::kUnknown) {
  try {
    if (offset == Node::kUnknown) node.fail("here");
    node.fail_at(offset, "here");
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TomlTree, KeepsTheOrderOfTheDocument) {
  const Node root = tree("zeta = 1\nalpha = 2\nmid = 3\n");
  ASSERT_EQ(root.members().size(), 3U);
  EXPECT_EQ(root.members()[0].name, "zeta");
  EXPECT_EQ(root.members()[2].name, "mid");
}

TEST(TomlTree, ValuesHaveTheirKinds) {
  const Node root = tree("a = 'x'\nb = -3\nc = 0.5\nd = true\ne = [1, 'y']\nf.g = 1\n");
  EXPECT_EQ(root["a"].text(), "x");
  EXPECT_EQ(root["b"].integer(), -3);
  EXPECT_EQ(root["c"].real(), 0.5);
  EXPECT_TRUE(root["d"].flag());
  EXPECT_EQ(root["e"].items()[1].key(), "e[1]");
  EXPECT_EQ(root["f"]["g"].key(), "f.g");
}

TEST(TomlTree, ValuesKnowTheirLineAndColumn) {
  const Node root = tree("first = 1\n  grid = 'N / 2'\n");
  EXPECT_THAT(failure_at(root["grid"]), StartsWith("a.toml:2:10: here"));
  EXPECT_THAT(failure_at(root["grid"], 4), StartsWith("a.toml:2:15: here"));
}

TEST(TomlTree, PlacesBehindLettersBeyondAsciiCountLetters) {
  const Node root = tree("x = { note = 'µm ≤ 1', grid = 'N / 2' }\n");
  EXPECT_EQ(failure_at(root["x"]["grid"]),
            "a.toml:1:31: here\n"
            "    1 | x = { note = 'µm ≤ 1', grid = 'N / 2' }\n"
            "      |                               ^");
  EXPECT_THAT(failure_at(root["x"]["grid"], 4), StartsWith("a.toml:1:36: here"));
}

TEST(TomlTree, ABlocksTextBeginsBehindItsFirstLineBreak) {
  const Node root = tree("rules = '''\nM > 0\nK > 0'''\n");
  EXPECT_EQ(root["rules"].text(), "M > 0\nK > 0");
  EXPECT_THAT(failure_at(root["rules"], 6), StartsWith("a.toml:3:1: here"));
}

TEST(TomlTree, ATextWithEscapesHasNoPlaceWithin) {
  const Node root = tree("a = \"x\\ty\"\n");
  EXPECT_FALSE(root["a"].has_place());
  EXPECT_THAT(failure_at(root["a"], 1), StartsWith("a.toml:1:5: here"));
}

TEST(TomlTree, MistakesAreAnsweredWithPlaceAndAdvice) {
  EXPECT_THAT([] { tree("a = 1\nb = word\n"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("a.toml:2:"), HasSubstr("put text in quotes"))));
  EXPECT_THAT([] { tree("a = 1\na = 2\n"); },
              ThrowsMessage<Error>(HasSubstr("remove one of the two")));
  EXPECT_THAT([] { tree("a = 2026-01-01\n"); },
              ThrowsMessage<Error>(HasSubstr("a manifest has no dates or times")));
  EXPECT_THAT([] { tree("[a"); }, ThrowsMessage<Error>(HasSubstr("a.toml")));
}

TEST(TomlTree, KeysOfTooManyPartsAreRefusedBeforeTheStackIsFull) {
  std::string key = "a";
  for (int i = 1; i < 32; ++i) key += i % 2 ? ".a" : " . \"b\"";
  EXPECT_NO_THROW(tree("x = 1.5\n" + key + " = 1\n"));
  std::string longer = key + ".c";
  for (int i = 0; i < 100'000; ++i) longer += ".a";
  for (const std::string& text : {"b = 1\n" + longer + " = 1\n", "b = 1\n[" + longer + "]\n"}) {
    EXPECT_THAT([&] { tree(text); },
                ThrowsMessage<Error>(AllOf(StartsWith("a.toml:2:"), HasSubstr("nested too deep"))));
  }
  EXPECT_NO_THROW(tree("a = \"" + std::string(100, '.') + " one. two. Three.\"\n"));
}

}  // namespace
}  // namespace autotune
