// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Verb kPaint{.name = "paint",
                  .synopsis = "--color C",
                  .summary = "Paint a wall",
                  .details = {},
                  .options = {{"color", "C", "", "white"},
                              {"coats", "N", ""},
                              {"wall", "NAME", "", {}, true},
                              {"glossy", "", ""}},
                  .positional = {},
                  .run = nullptr};

Verb with_rooms() {
  Verb verb = kPaint;
  verb.positional = "ROOM";
  return verb;
}

std::string refusal(const std::vector<std::string>& words) {
  try {
    const Arguments arguments(kPaint, words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "they were taken";
}

TEST(Arguments, AValueIsGivenOrTheDefaultOrMissing) {
  EXPECT_EQ(Arguments(kPaint, {"--color", "red"}).text("color"), "red");
  EXPECT_EQ(Arguments(kPaint, {"--color=red"}).text("color"), "red");
  const Arguments none(kPaint, {});
  EXPECT_EQ(none.text("color"), "white");
  EXPECT_FALSE(none.has("color")) << "a default is not given";
  EXPECT_EQ(none.find("coats"), std::nullopt);
  EXPECT_TRUE(Arguments(kPaint, {"--glossy"}).has("glossy"));
}

TEST(Arguments, AMissingRequiredOptionIsNamed) {
  EXPECT_THAT([] { Arguments(kPaint, {}).text("coats"); },
              ThrowsMessage<UsageError>("paint needs --coats; see autotune paint --help"));
}

TEST(Arguments, AMissingOptionOfAnActionIsNamedWithTheAction) {
  Verb verb = with_rooms();
  verb.words = "hall kitchen";
  EXPECT_THAT([&] { Arguments(verb, {"hall"}).text("coats"); },
              ThrowsMessage<UsageError>("paint hall needs --coats; see autotune paint --help"));
}

TEST(Arguments, ARepeatableOptionKeepsItsOrder) {
  const Arguments arguments(kPaint, {"--wall", "north", "--color", "red", "--wall", "east"});
  EXPECT_THAT(arguments.all("wall"), ElementsAre("north", "east"));
  EXPECT_TRUE(arguments.all("coats").empty());
  EXPECT_EQ(refusal({"--color", "red", "--color", "blue"}),
            "--color is given twice; see autotune paint --help");
}

TEST(Arguments, AnUnknownOptionIsAnsweredWithANearOne) {
  EXPECT_THAT(refusal({"--colour", "red"}), HasSubstr("paint has no option --colour: did you mean "
                                                      "--color"));
  EXPECT_EQ(refusal({"--xyzzy"}), "paint has no option --xyzzy; see autotune paint --help");
  EXPECT_THAT(refusal({"--col", "red"}), HasSubstr("no option --col")) << "no abbreviations";
}

TEST(Arguments, AValueMustFollow) {
  EXPECT_EQ(refusal({"--color"}), "--color needs a value; see autotune paint --help");
  EXPECT_THAT(refusal({"--glossy=yes"}), HasSubstr("--glossy"));
  EXPECT_EQ(refusal({"--wall", ""}), "--wall is given an empty name; see autotune paint --help");
  EXPECT_EQ(refusal({"--color", ""}), "they were taken") << "only names must not be empty";
}

TEST(Arguments, AnIntegerIsWholeAndInItsRange) {
  const auto coats = [](const char* text) {
    return Arguments(kPaint, {"--coats", text}).integer("coats", 1, 3);
  };
  EXPECT_EQ(coats("1"), 1);
  EXPECT_EQ(coats("3"), 3);
  for (const char* text : {"0", "4", "2x", "", "1.5", "99999999999999999999"}) {
    EXPECT_THAT([&] { coats(text); },
                ThrowsMessage<UsageError>(HasSubstr("is not an integer from 1 to 3")))
        << text;
  }
}

TEST(Arguments, OtherWordsArePositionalIfTheVerbTakesThem) {
  const Verb verb = with_rooms();
  const Arguments arguments(verb, {"hall", "--color", "red", "kitchen", "--", "--odd-name"});
  EXPECT_THAT(arguments.positional(), ElementsAre("hall", "kitchen", "--odd-name"));
  EXPECT_EQ(refusal({"hall"}),
            "paint does not know what to do with \"hall\"; see autotune paint --help");
}

}  // namespace
}  // namespace autotune::cli
