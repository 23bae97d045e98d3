// SPDX-License-Identifier: Apache-2.0
// What a shell completes a value with.
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
/// Of the first positional argument, and of those after it.
CompletionValues first_of(const Verb& verb);
CompletionValues further_of(const Verb& verb);

/// `text` as one word of bash, zsh and the like: in single quotes.
std::string shell_quoted(const std::string& text);

}  // namespace autotune::cli
