// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

struct CompletionValues {
  std::vector<std::string> words;
  std::string list;  // `targets`: the names that `autotune list targets` prints; or empty
  bool files = false;
  bool commands = false;
};

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

CompletionValues values_of(const Option& option) {
  CompletionValues values = values_called(option.value);
  if (!option.words.empty()) values.words = words_in(option.words);
  return values;
}

/// The values of the first positional argument.
CompletionValues first_of(const Verb& verb) {
  CompletionValues values = values_called(verb.positional);
  if (!verb.words.empty()) values.words = words_in(verb.words);
  return values;
}

/// The values of later positional arguments.
CompletionValues further_of(const Verb& verb) {
  CompletionValues values;
  values.files =
      verb.synopsis.find("FILE…") != std::string_view::npos || verb.positional == "COMMAND";
  return values;
}

/// `text` as one word of bash, zsh and the like: in single quotes.
std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

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

constexpr const char* kFishFunctions =
    R"fish(# fish completion of autotune, written by `autotune help --completion fish`.

function __autotune_list
    autotune list $argv[1] 2>/dev/null | string replace -r ' .*' ''
end

function __autotune_at_verb
    test (count (commandline -opc)) -eq 1
end

function __autotune_verb_is
    set -l words (commandline -opc)
    set -l verb $argv[2]
    if set -q words[2]; and not string match -q -- '-*' $words[2]
        set verb $words[2]
    end
    test $verb = $argv[1]
end

function __autotune_words_are
    __autotune_verb_is $argv[1] $argv[3]; and test (count (commandline -opc)) $argv[2] 2
end

complete -c autotune -f
)fish";

/// `text` in single quotes, in which fish knows backslashes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// The options of `complete` that offer these values.
std::string values_text(const CompletionValues& values) {
  std::string offered = joined(values.words, " ");
  if (!values.list.empty()) offered += format("(__autotune_list {})", values.list);
  if (values.commands) offered += "(__fish_complete_command)";
  return (values.files ? " -F" : " -f") + (offered.empty() ? "" : " -a " + fish_quoted(offered));
}

std::string lines_of(const Verb& verb, std::string_view standard) {
  const std::string start =
      format("complete -c autotune -n '__autotune_verb_is {} {}'", verb.name, standard);
  std::string text = format("complete -c autotune -n __autotune_at_verb -a {} -d {}\n", verb.name,
                            fish_quoted(verb.summary)) +
                     start + " -l help -d 'Show the options'\n";
  for (const Option& option : verb.options) {
    text += format("{} -l {}{} -d {}\n", start, option.name,
                   option.value.empty() ? "" : " -r" + values_text(values_of(option)),
                   fish_quoted(option.help));
  }
  const auto words = [&](const char* compared, const CompletionValues& values) {
    text += format("complete -c autotune -n '__autotune_words_are {} {} {}'{}\n", verb.name,
                   compared, standard, values_text(values));
  };
  if (!verb.positional.empty()) words("-eq", first_of(verb));
  if (further_of(verb).files) words("-gt", further_of(verb));
  return text;
}

std::string fish_completion() {
  std::string text = kFishFunctions;
  text += "complete -c autotune -n __autotune_at_verb -l version -d 'Print the version'\n";
  for (const Verb* verb : verbs()) text += lines_of(*verb, verbs().front()->name);
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  throw UsageError(format("there is no completion for \"{}\": {}", shell,
                          suggestion(std::string(shell), shells)));
}

}  // namespace autotune::cli
