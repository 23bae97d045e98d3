// SPDX-License-Identifier: Apache-2.0
// The help texts, and docs/cli.md, from the table of verbs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

struct EnvironmentVariable {
  std::string_view name, meaning;
};

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

}  // namespace autotune::cli
