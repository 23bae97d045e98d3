// SPDX-License-Identifier: Apache-2.0
// How a shell completes the value of an option.
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

struct CompletionValues {
  std::vector<std::string> words;
  std::string list;  // `targets`: the names that `autotune list targets` prints; or empty
  bool files = false;
  bool commands = false;
};

CompletionValues values_of(const Option& option);
/// The values of the first positional argument, and of later ones.
CompletionValues first_of(const Verb& verb);
CompletionValues further_of(const Verb& verb);

/// `text` as one word of bash, zsh and the like: in single quotes.
std::string shell_quoted(const std::string& text);

}  // namespace autotune::cli
