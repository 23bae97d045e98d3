// SPDX-License-Identifier: Apache-2.0
// The table of verbs: a new one is a source with its row, and a line in each list here.
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/completion.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

extern const Verb kCheck;
extern const Verb kCompare;
extern const Verb kConvert;
extern const Verb kCover;
extern const Verb kDb;
extern const Verb kDoctor;
extern const Verb kExplain;
extern const Verb kImport;
extern const Verb kList;
extern const Verb kLock;
extern const Verb kInit;
extern const Verb kJudge;
extern const Verb kNewTarget;
extern const Verb kOccupancy;
extern const Verb kQuery;
extern const Verb kReplay;
extern const Verb kReport;
extern const Verb kRun;
extern const Verb kTune;
extern const Verb kWarm;
extern const Verb kWatch;

namespace {

int run_help(const Arguments& arguments) {
  const std::vector<std::string>& names = arguments.positional();
  const auto shell = arguments.find("completion");
  if (shell && !names.empty()) {
    std::cout << completions(*shell, names);
    return kDone;
  }
  for (const std::string& name : names) std::cout << help_of(verb_called(name));
  if (!names.empty()) return kDone;
  if (shell) {
    std::cout << completion_script(*shell);
  } else if (arguments.has("man")) {
    std::cout << man_page();
  } else {
    std::cout << (arguments.has("markdown") ? markdown_reference() : overview());
  }
  return kDone;
}

const Verb kHelp{.name = "help",
                 .synopsis = "[VERB] [--completion SHELL|--man|--markdown]",
                 .summary = "List the verbs, or show the options of one",
                 .details = {},
                 .options = {{"completion",
                              "SHELL",
                              "Print the completion of bash, zsh or fish",
                              {},
                              false,
                              "bash zsh fish"},
                             {"man", "", "Print the manual page, for man -l"},
                             {"markdown", "", "Print docs/cli.md: everything, in Markdown"}},
                 .positional = "VERB",
                 .run = run_help};

const std::array kVerbs{&kTune,      &kQuery,   &kList,    &kOccupancy, &kCheck,  &kInit,
                        &kNewTarget, &kConvert, &kDb,      &kImport,    &kReplay, &kExplain,
                        &kReport,    &kWatch,   &kCompare, &kCover,     &kJudge,  &kWarm,
                        &kLock,      &kRun,     &kDoctor,  &kHelp};

}  // namespace

std::span<const Verb* const> verbs() { return kVerbs; }

const Verb& verb_called(std::string_view name) {
  std::vector<std::string> names;
  for (const Verb* verb : verbs()) {
    if (verb->name == name) return *verb;
    names.emplace_back(verb->name);
  }
  for (const Option& option : kHelp.options) {  // what other tools have as a verb
    if (option.name != name) continue;
    throw UsageError(format("there is no verb \"{}\": try autotune help --{}{}{}", name,
                            option.name, option.value.empty() ? "" : " ", option.value));
  }
  if (is_manifest_path(name)) {
    throw UsageError(format("\"{0}\" is not a verb: to tune it, autotune --target {0}", name));
  }
  throw UsageError(
      format("there is no verb \"{}\": {}", name, suggestion(std::string(name), names)));
}

}  // namespace autotune::cli
