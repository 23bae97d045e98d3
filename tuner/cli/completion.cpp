// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include <algorithm>

#include "tuner/cli/completion_values.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::vector<std::string> device_words() {
  std::vector<std::string> words{"auto", "host", "cuda", "cuda:all"};
  for (const std::string& name : gpu_nicknames()) words.push_back("model:" + name);
  return words;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb* verb : verbs()) names.emplace_back(verb->name);
  return names;
}

CompletionValues values_called(std::string_view placeholder) {
  CompletionValues values;
  values.files = placeholder == "FILE" || placeholder == "FILE…" || placeholder == "DIR" ||
                 placeholder == "T" || placeholder == "MANIFEST";
  values.commands = placeholder == "COMMAND";
  if (placeholder == "T" || placeholder == "MANIFEST") values.list = "targets";
  if (placeholder == "STRATEGY") values.list = "strategies";
  if (placeholder == "D") values.words = device_words();
  if (placeholder == "GPU") values.words = gpu_nicknames();
  if (placeholder == "VERB") values.words = verb_names();
  return values;
}

}  // namespace

CompletionValues values_of(const Option& option) {
  CompletionValues values = values_called(option.value);
  if (!option.words.empty()) values.words = words_in(option.words);
  return values;
}

CompletionValues first_of(const Verb& verb) {
  CompletionValues values = values_called(verb.positional);
  if (!verb.words.empty()) values.words = words_in(verb.words);
  return values;
}

CompletionValues further_of(const Verb& verb) {
  CompletionValues values;
  values.files =
      verb.synopsis.find("FILE…") != std::string_view::npos || verb.positional == "COMMAND";
  return values;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  throw UsageError(format("there is no completion for \"{}\": {}", shell,
                          suggestion(std::string(shell), shells)));
}

}  // namespace autotune::cli
