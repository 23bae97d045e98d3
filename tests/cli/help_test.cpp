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

}  // namespace
}  // namespace autotune::cli
