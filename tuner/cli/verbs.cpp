// SPDX-License-Identifier: Apache-2.0
// The table of verbs: a new one is a source with its row, which arguments.hpp declares, and a line
// in the list here. And completion in shells, from that table.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

struct Offered {
  std::string word, help = {};
};

/// What may stand at a place of the command line.
struct Choices {
  std::vector<Offered> words;
  bool files = false, commands = false;

  void add(const std::vector<std::string>& more) {
    for (const std::string& word : more) words.push_back({word});
  }
};

Choices verb_choices() {
  Choices choices;
  for (const Verb* verb : verbs()) {
    choices.words.push_back({std::string(verb->name), std::string(verb->summary)});
  }
  return choices;
}

/// `words`: the values, if they are listed.
Choices values_of(std::string_view placeholder, std::string_view words) {
  Choices choices;
  const bool is_target = placeholder == "T" || placeholder == "MANIFEST";
  choices.files =
      is_target || placeholder == "FILE" || placeholder == "FILE…" || placeholder == "DIR";
  choices.commands = placeholder == "COMMAND";
  for (const std::string_view word : split(words, ' ')) {
    if (!word.empty()) choices.words.push_back({std::string(word)});
  }
  if (!words.empty()) return choices;
  if (placeholder == "VERB") return verb_choices();
  if (is_target) choices.add(listed_names("targets"));
  if (placeholder == "STRATEGY") choices.add(listed_names("strategies"));
  if (placeholder == "GPU") choices.add(gpu_nicknames());
  if (placeholder == "D") {
    choices.add({"auto", "host", "cuda", "cuda:all"});
    for (const std::string& name : gpu_nicknames()) choices.words.push_back({"model:" + name});
  }
  return choices;
}

const Option* option_in(const Verb& verb, std::string_view word) {
  const auto found = std::ranges::find_if(
      verb.options, [&](const Option& option) { return word == "--" + std::string(option.name); });
  return found == verb.options.end() ? nullptr : &*found;
}

/// `words`: those behind the verb; the last one is not yet complete.
Choices choices_in(const Verb& verb, std::span<const std::string> words) {
  std::size_t positional = 0;
  const Option* open = nullptr;  // the option whose value comes next
  bool has_ended = false;        // by `--`
  for (const std::string& word : words.first(words.size() - 1)) {
    const Option* const option = open || has_ended ? nullptr : option_in(verb, word);
    if (!open && (has_ended || !word.starts_with('-'))) ++positional;
    has_ended = has_ended || word == "--";
    open = option && !option->value.empty() ? option : nullptr;
  }
  const std::string& last = words.back();
  const std::size_t equals = last.starts_with("--") ? last.find('=') : std::string::npos;
  if (equals != std::string::npos) open = option_in(verb, last.substr(0, equals));
  if (open) return values_of(open->value, open->words);
  if (has_ended || !last.starts_with('-')) {
    if (positional == 0) return values_of(verb.positional, verb.words);
    const bool takes_files = verb.synopsis.find("FILE…") != std::string_view::npos;
    return {.words = {}, .files = takes_files || verb.positional == "COMMAND"};
  }
  Choices choices{.words = {{"--help", "Show the options"}}};
  for (const Option& option : verb.options) {
    choices.words.push_back({format("--{}", option.name), std::string(option.help)});
  }
  return choices;
}

Choices choices_at(std::span<const std::string> words) {
  const bool is_first = words.size() == 1;
  if (is_first && !words[0].starts_with('-')) return verb_choices();
  if (words[0].starts_with('-')) {
    Choices choices = choices_in(*verbs().front(), words);
    const bool has_options = is_first && words[0].find('=') == std::string::npos;
    if (has_options) choices.words.push_back({"--version", "Print the version"});
    return choices;
  }
  const auto verb =
      std::ranges::find(verbs(), words[0], [](const Verb* each) { return each->name; });
  return verb == verbs().end() ? Choices{} : choices_in(**verb, words.subspan(1));
}

// Each script asks the tool what may come next: see completions(). bash also splits words at `:`
// and `=`. So its script takes words from the line, and removes everything up to the last `:`.
constexpr const char* kBash =
    R"bash(# bash completion of autotune, written by `autotune help --completion bash`.
_autotune() {
  local line=${COMP_LINE:0:COMP_POINT} words word before= each
  read -ra words <<< "$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  word=${words[-1]}
  [[ $word != --*=* ]] || word=${word#*=}
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then before=${word%"${word##*:}"}; fi
  COMPREPLY=()
  while IFS=$'\t' read -r each _; do
    case $each in
      :files)
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null ;;
      :commands) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$word") ;;
      "$word"*) COMPREPLY+=("${each#"$before"}") ;;
    esac
  done < <(autotune help --completion bash -- "${words[@]:1}" 2>/dev/null)
}

complete -F _autotune autotune
)bash";

constexpr const char* kZsh = R"zsh(#compdef autotune
# zsh completion of autotune, written by `autotune help --completion zsh`.
_autotune() {
  local line files= commands=
  local -a answers
  for line in ${(f)"$(autotune help --completion zsh -- "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"}; do
    case $line in
      :files) files=yes ;;
      :commands) commands=yes ;;
      *) answers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#answers )) && _describe autotune answers
  [[ -z $commands ]] || _command_names -e
  [[ -z $files ]] || { compset -P '--*='; _files }
}

if [[ $funcstack[1] == _autotune ]]; then _autotune "$@"; else compdef _autotune autotune; fi
)zsh";

constexpr const char* kFish =
    R"fish(# fish completion of autotune, written by `autotune help --completion fish`.
function __autotune_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l start (string match -r -- '^--[^=]*=' "$token")
    for line in (autotune help --completion fish -- $words[2..-1] "$token" 2>/dev/null)
        switch $line
            case :files
                for path in (__fish_complete_path (string replace -- "$start" '' "$token"))
                    echo "$start$path"
                end
            case :commands
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete -c autotune -f -a '(__autotune_complete)'
)fish";

}  // namespace

std::string completions(std::string_view shell, std::span<const std::string> words) {
  const std::string& last = words.back();
  const std::size_t equals = last.starts_with("--") ? last.find('=') : std::string::npos;
  const bool is_split = shell == "bash" || equals == std::string::npos;
  const std::string before = is_split ? "" : last.substr(0, equals + 1);
  const Choices choices = choices_at(words);
  std::string text;
  for (const Offered& each : choices.words)
    text += format("{}{}\t{}\n", before, each.word, each.help);
  return text + (choices.files ? ":files\n" : "") + (choices.commands ? ":commands\n" : "");
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return kFish;
}

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
