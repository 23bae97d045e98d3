// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"
#include "tuner/cli/completion_values.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr const char* kZshFunctions = R"zsh(#compdef autotune
# zsh completion of autotune, written by `autotune help --completion zsh`.

_autotune_list() {
  local -a names
  names=(${(f)"$(autotune list $1 2>/dev/null | sed 's/ .*//')"})
  (( $#names )) && compadd -a names
  [[ -z $2 ]] || _files
}

_autotune_words() { compadd -- "$@" }

)zsh";

/// `text` where brackets and colons have a meaning.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// What follows the colon in a specification of _arguments. It adds arguments to functions that
/// have no space before them.
std::string action_of(const CompletionValues& values) {
  if (!values.list.empty()) {
    return format(" _autotune_list {}{}", values.list, values.files ? " files" : "");
  }
  if (!values.words.empty()) {
    return format(" _autotune_words {}", escaped(joined(values.words, " ")));
  }
  if (values.commands) return "_command_names -e";
  return values.files ? "_files" : " ";
}

std::string option_of(const Option& option) {
  std::string text = format("{}--{}{}[{}]", option.repeatable ? "*" : "", option.name,
                            option.value.empty() ? "" : "=", escaped(option.help));
  if (!option.value.empty()) {
    text += format(":{}:{}", escaped(option.value), action_of(values_of(option)));
  }
  return text;
}

std::string case_of(const Verb& verb) {
  std::string text = format("  {})\n    _arguments -S", verb.name);
  const auto add = [&](const std::string& one) { text += " \\\n      " + shell_quoted(one); };
  add("--help[Show the options]");
  if (&verb == verbs().front()) add("--version[Print the version]");
  for (const Option& option : verb.options) add(option_of(option));
  if (!verb.positional.empty()) {
    add(format("1:{}:{}", escaped(verb.positional), action_of(first_of(verb))));
    if (first_of(verb).commands) {
      add("*::argument:_normal");
    } else if (further_of(verb).files) {
      add("*:FILE:_files");
    }
  }
  return text + " ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string names, cases;
  for (const Verb* verb : verbs()) {
    names += "    " + shell_quoted(format("{}:{}", verb->name, verb->summary)) + "\n";
    cases += case_of(*verb);
  }
  return format(
      "{}_autotune() {{\n"
      "  local verb={}\n  local -a verbs\n  verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
      "    _describe verb verbs\n    return\n  fi\n"
      "  if [[ $words[2] == [a-z]* ]]; then\n"
      "    verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n  fi\n"
      "  case $verb in\n{}  esac\n}}\n\n"
      "if [[ $funcstack[1] == _autotune ]]; then _autotune \"$@\"; else compdef _autotune "
      "autotune; fi\n",
      kZshFunctions, verbs().front()->name, names, cases);
}

}  // namespace autotune::cli
