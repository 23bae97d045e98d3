// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"
#include "tuner/cli/completion_values.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

// bash also splits words at `:` and `=`. So the script takes words from the line, and removes
// everything up to the last `:` from the answers.
constexpr const char* kBashFunctions =
    R"bash(# bash completion of autotune, written by `autotune help --completion bash`.

# usage: _autotune_reply WORD WORDS LIST FILES COMMANDS
_autotune_reply() {
  local words=$2 before=
  [[ -z $3 ]] || words+=" $(autotune list "$3" 2>/dev/null | sed 's/ .*//' | tr '\n' ' ')"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$1")
  if [[ $1 == *:* && $COMP_WORDBREAKS == *:* ]]; then before=${1%"${1##*:}"}; fi
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  [[ -z $4 ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$1")
  [[ -z $5 ]] || mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$1")
  [[ -z $4 ]] || compopt -o filenames 2>/dev/null
}

_autotune() {
  local line=${COMP_LINE:0:COMP_POINT} word= verb=)bash";

constexpr const char* kParse = R"bash( before words options
  read -ra words <<< "$line"
  if [[ $line != *[[:space:]] ]]; then word=${words[-1]}; unset 'words[-1]'; fi
  before=${words[-1]}
  if [[ $word == --*=* ]]; then before=${word%%=*} word=${word#*=}; fi
  COMPREPLY=()
)bash";

std::string arguments_of(const CompletionValues& values) {
  return format("{} {} {} {}", shell_quoted(joined(values.words, " ")), shell_quoted(values.list),
                values.files ? "yes" : "''", values.commands ? "yes" : "''");
}

/// The cases of one verb: its options with values, and its options and words.
std::string cases_of(const Verb& verb) {
  std::string text = format("  {})\n    options='--help", verb.name);
  for (const Option& option : verb.options) text += format(" --{}", option.name);
  text += "'\n    case $before in\n";
  for (const Option& option : verb.options) {
    if (option.value.empty()) continue;
    text += format("    --{}) _autotune_reply \"$word\" {}; return ;;\n", option.name,
                   arguments_of(values_of(option)));
  }
  text += "    esac\n";
  text += format("    first=({})\n    further=({}) ;;\n", arguments_of(first_of(verb)),
                 arguments_of(further_of(verb)));
  return text;
}

}  // namespace

std::string bash_completion() {
  std::string names, cases;
  for (const Verb* verb : verbs()) {
    names += format(" {}", verb->name);
    cases += cases_of(*verb);
  }
  return format(
      "{}{}{}"
      "  local first further count=1\n"
      "  if ((${{#words[@]}} == 1)) && [[ $before != -* && $word != -* ]]; then\n"
      "    _autotune_reply \"$word\" '{}' '' '' ''\n    return\n  fi\n"
      "  if [[ ${{words[1]-}} == [a-z]* ]]; then verb=${{words[1]}} count=2; fi\n"
      "  case $verb in\n{}  *) return ;;\n  esac\n"
      "  ((${{#words[@]}} > 1)) || options+=' --version'\n"
      "  if [[ $word == -* ]]; then _autotune_reply \"$word\" \"$options\" '' '' ''\n"
      "  elif ((${{#words[@]}} == count)) || [[ $before == -- ]]; then\n"
      "    _autotune_reply \"$word\" \"${{first[@]}}\"\n"
      "  else _autotune_reply \"$word\" \"${{further[@]}}\"\n  fi\n}}\n\n"
      "complete -F _autotune autotune\n",
      kBashFunctions, verbs().front()->name, kParse, names.substr(1), cases);
}

}  // namespace autotune::cli
