// SPDX-License-Identifier: Apache-2.0
// The table of verbs: a new one is a source with its row, and a line in each list here.
#include <array>
#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/cli/verb.hpp"

namespace autotune::cli {

extern const Verb kCheck;
extern const Verb kDb;
extern const Verb kExplain;
extern const Verb kList;
extern const Verb kNewTarget;
extern const Verb kOccupancy;
extern const Verb kQuery;
extern const Verb kReplay;
extern const Verb kTune;

namespace {

int run_help(const Arguments& arguments) {
  std::cout << (arguments.has("markdown") ? markdown_reference() : overview());
  return kDone;
}

const Verb kHelp{.name = "help",
                 .synopsis = "[--markdown]",
                 .summary = "This list of verbs; or the whole reference in Markdown",
                 .details = {},
                 .options = {{"markdown", "", "Print docs/cli.md"}},
                 .positional = {},
                 .run = run_help};

const std::array kVerbs{&kTune,      &kQuery, &kList,   &kOccupancy, &kCheck,
                        &kNewTarget, &kDb,    &kReplay, &kExplain,   &kHelp};

}  // namespace

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace autotune::cli
