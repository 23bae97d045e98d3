// SPDX-License-Identifier: Apache-2.0
// The tool: picks the verb and runs it.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/cli/program.hpp"

namespace autotune::cli {
namespace {

int run(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    (words.empty() ? std::cerr : std::cout) << overview();
    return words.empty() ? kWrongUsage : kDone;
  }
  if (words[0] == "--version") {
    std::cout << "autotune " << AUTOTUNE_VERSION << '\n';
    return kDone;
  }
  const Verb& verb = words[0].starts_with("-") ? *verbs().front() : verb_called(words[0]);
  if (!words[0].starts_with("-")) words.erase(words.begin());
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  const auto end = std::ranges::find(words, "--");  // what follows is another program's
  if (std::any_of(words.begin(), end, asks_for_help)) {
    std::cout << help_of(verb);
    return kDone;
  }
  return verb.run(Arguments(verb, words_by_new_name(verb, words, std::cerr)));
}

}  // namespace
}  // namespace autotune::cli

int main(int argc, char** argv) {
  return autotune::cli::run_program([&] { return autotune::cli::run({argv + 1, argv + argc}); });
}
