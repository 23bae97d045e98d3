// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/reading.hpp"

#include "tests/support/matchers.hpp"
#include "tests/tuner/target/manifest_tree.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

Reading reading(const std::string& text) { return {toml(text), {}}; }

void expect_reading_error(const std::string& text, const std::string& what) {
  EXPECT_REFUSAL(Error, reading(text), what);
}

TEST(Reading, FamiliesAndPartsThatMakeNoSenseAreRefused) {
  expect_reading_error("families = {}", "there are no families: leave the key out");
  expect_reading_error("families.f.parts = [\"a\"]", "there is no part a (there are none)");
  expect_reading_error("parts.tiles.main = 'f'\nfamilies.f.parts = [\"tile\"]",
                       "there is no part tile (did you mean tiles?)");
  expect_reading_error("families.f.sizes = ['N']", "\"sizes\" is a key of the target");
  expect_reading_error("parts.a.mains = 'f'\nfamilies.f.parts = ['a']", "did you mean main?");
}

TEST(Reading, APartThatUsesOtherPartsIsRefused) {
  expect_reading_error("parts.a.main = 'f'\nparts.b.parts = ['a']\nfamilies.f.parts = ['b']",
                       "a.toml:2:17: a part cannot use other parts: list them all in the family");
}

template <class Call>
void expect_node_error(const Call& call, const std::string& what) {
  EXPECT_THAT(call, ThrowsMessage<Error>(HasSubstr(what)));
}

TEST(Node, AKeyThatIsNotKnownIsAnsweredWithANearOne) {
  const Node root = toml("a = 1\n[sub]\nvalus = 2\nsizes = 3\n");
  expect_node_error([&] { root["sub"].expect_keys({"values"}); },
                    "a.toml:3:1: there is no key \"valus\" (did you mean values?)");
  expect_node_error(
      [&] { root["sub"].expect_keys({"valus"}); },
      "a.toml:4:1: \"sizes\" is a key of the target: such keys stand above the first");
  expect_node_error([&] { root["sub"].expect_keys({"sizes"}, {"valus"}); },
                    "a.toml:3:1: the key \"valus\" is not supported yet");
  expect_node_error([&] { root["a"].expect_keys({}); }, "expected a table, got an integer");
  EXPECT_NO_THROW(root.expect_keys({"a", "sub"}));
}

TEST(Node, AListHasAsManyItemsAsAreAllowed) {
  const Node root = toml("list = [1, 2, 3]\none = 4\n");
  const Node& list = root["list"];
  EXPECT_EQ(list.items(3, 3).size(), 3u);
  expect_node_error([&] { (void)list.items(4); }, "has 3 items, expected 4 or more");
  expect_node_error([&] { (void)list.items(1, 2); }, "has 3 items, expected 2 at most");
  expect_node_error([&] { (void)list.items(2, 2); }, "has 3 items, expected 2");
  expect_node_error([&] { (void)root["one"].items(); }, "expected a list, got an integer");
  EXPECT_EQ(root["one"].one_or_more(3).front().integer(), 4);
  expect_node_error([&] { (void)list.one_or_more(2); }, "has 3 items, expected 2 at most");
}

TEST(Node, NamesOfMembersAreIdentifiers) {
  expect_node_error([] { (void)toml("\"a-b\" = 1").members(); }, "\"a-b\" is not a name");
  expect_node_error([] { (void)toml("\"größe\" = 1").members(); }, "größe\" is not a name");
  expect_node_error([] { (void)toml("\"\" = 1").members(); }, "\"\" is not a name");
}

TEST(Node, AValueIsANumberAFlagOrAWord) {
  const Node root = toml(
      "a = true\nb = 0.5\nc = 'word'\nd = '12'\ne = 'a b'\nf = nan\ng = inf\nh = []\ni = ''\n");
  EXPECT_EQ(root["a"].value(), Value(1));
  EXPECT_EQ(root["b"].value(), Value(0.5));
  EXPECT_EQ(root["c"].value(), Value("word"));
  expect_node_error([&] { (void)root["d"].value(); }, "\"12\" is a number: leave out the quotes");
  expect_node_error([&] { (void)root["e"].value(); }, "\"a b\" is neither a number nor a word");
  expect_node_error([&] { (void)root["f"].value(); }, "expected a finite number");
  expect_node_error([&] { (void)root["g"].value(); }, "expected a finite number");
  expect_node_error([&] { (void)root["h"].value(); }, "expected a number or a word, got a list");
  expect_node_error([&] { (void)root["i"].value(); }, "\"\" is neither a number nor a word");
}

TEST(Node, EachTypeIsReadAsItself) {
  const Node root = toml("a = 2\nb = 0.5\nc = 'word'\nd = true\n");
  EXPECT_EQ(root["a"].real(), 2.0);
  expect_node_error([&] { (void)root["b"].integer(); }, "expected an integer, got a number with a");
  expect_node_error([&] { (void)root["d"].integer(); }, "expected an integer, got true or false");
  expect_node_error([&] { (void)root["c"].real(); }, "expected a number, got a text");
  expect_node_error([&] { (void)root["a"].flag(); }, "expected true or false, got an integer");
  expect_node_error([&] { (void)root["a"].text(); }, "a.toml:1:5: ");
}

TEST(Node, ALongLineIsCutBetweenCharacters) {
  std::string line = "a = [";
  for (int i = 0; i < 200; ++i) line += "'é', ";
  const Node root = toml(line + "1]");
  for (std::size_t i = 20; i < 24; ++i) {
    try {
      root["a"].items()[i].fail("no");
    } catch (const Error& error) {
      const std::string what = error.what();
      const std::size_t shown = what.find(" | ") + 3, end = what.find('\n', shown);
      EXPECT_NE(static_cast<unsigned char>(what[shown]) & 0xC0, 0x80) << what;
      const std::string tail = what.substr(end - 2, 2);
      EXPECT_NE(static_cast<unsigned char>(tail[1]), 0xC3) << what;
    }
  }
}

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
