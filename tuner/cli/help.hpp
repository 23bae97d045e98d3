// SPDX-License-Identifier: Apache-2.0
// The help texts, and docs/cli.md, from the table of verbs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cli/arguments.hpp"

namespace autotune::cli {

/// The meaning of an option, with its default.
std::string meaning_of(const Option& option);

/// `autotune --help`: purpose, verbs, environment.
std::string overview();
/// `autotune VERB --help`.
std::string help_of(const Verb& verb);
/// The whole of docs/cli.md.
std::string markdown_reference();

/// autotune(1), in the man macros of roff. Only ASCII.
std::string man_page();

// Completion in shells, from the table of verbs.

/// The script for bash, zsh or fish.
std::string completion_script(std::string_view shell);

/// What may stand in place of the last of the words that follow `autotune`: lines of a word, a tab
/// and its meaning, then `:files` or `:commands` if those may stand there, too. In the form of
/// `--option=value` unless the shell, as bash does, splits words at `=`.
std::string completions(std::string_view shell, std::span<const std::string> words);

/// The names that `autotune list KIND` prints.
std::vector<std::string> listed_names(const std::string& kind);

}  // namespace autotune::cli
