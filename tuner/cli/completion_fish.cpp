// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/completion.hpp"
#include "tuner/cli/completion_values.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

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

}  // namespace

std::string fish_completion() {
  std::string text = kFishFunctions;
  text += "complete -c autotune -n __autotune_at_verb -l version -d 'Print the version'\n";
  for (const Verb* verb : verbs()) text += lines_of(*verb, verbs().front()->name);
  return text;
}

}  // namespace autotune::cli
