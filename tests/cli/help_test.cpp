// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help.hpp"

#include <sstream>

#include "tests/support/matchers.hpp"

namespace autotune::cli {
namespace {

const Verb kPaintWall{.name = "paint",
                      .synopsis = "--color C",
                      .summary = "Paint a wall",
                      .details = "[walls.md](walls.md) lists the walls.\n\n* one\n  item",
                      .options = {{"color", "C", "A color", "white"},
                                  {"wall", "NAME", "A wall", {}, true},
                                  {"glossy", "", "With a gloss"}},
                      .positional = {},
                      .run = nullptr};

TEST(Help, AnOptionHasItsDefaultAndWhetherItMayBeRepeated) {
  EXPECT_EQ(meaning_of(kPaintWall.options[0]), "A color (default: white)");
  EXPECT_EQ(meaning_of(kPaintWall.options[1]), "A wall (may be repeated)");
  EXPECT_EQ(meaning_of(kPaintWall.options[2]), "With a gloss");
}

TEST(Help, OfAVerbIsUsageOptionsAndDetails) {
  EXPECT_EQ(help_of(kPaintWall),
            "usage: autotune paint --color C\n"
            "Paint a wall\n\n"
            "  --color C    A color (default: white)\n"
            "  --wall NAME  A wall (may be repeated)\n"
            "  --glossy     With a gloss\n\n"
            "docs/walls.md lists the walls.\n\n"
            "* one\n  item\n");
}

TEST(Help, LongTextsContinueBelowTheirColumn) {
  Verb verb = kPaintWall;
  const std::string words =
      "twenty words of five letters or so are too long for one line of a "
      "terminal that has 96 columns";
  verb.options = {{"color", "C", words}};
  std::istringstream lines(help_of(verb));
  std::string line;
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 96u);
  EXPECT_THAT(help_of(verb), HasSubstr("\n             ")) << "below the column of meanings";
}

TEST(Help, TheOverviewHasEveryVerbAndVariable) {
  const std::string text = overview();
  for (const Verb* verb : verbs())
    EXPECT_THAT(text, HasSubstr(std::string(verb->summary.substr(0, 40))));
  for (const EnvironmentVariable& one : environment_variables()) {
    EXPECT_THAT(text, HasSubstr(std::string(one.name)));
  }
}

TEST(Help, TheReferenceIsOneSectionAVerb) {
  const std::string text = markdown_reference();
  for (const Verb* verb : verbs()) {
    EXPECT_THAT(text, HasSubstr("\n## " + std::string(verb->name) + "\n\n    autotune "));
  }
  EXPECT_THAT(text, Not(HasSubstr("\n\n\n\n")));
}

}  // namespace
}  // namespace autotune::cli
