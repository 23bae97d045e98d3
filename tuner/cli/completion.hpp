// SPDX-License-Identifier: Apache-2.0
// Completion scripts of shells, from the table of verbs.
#pragma once

#include <string>
#include <string_view>

namespace autotune::cli {

/// The script for bash, zsh or fish. Throws UsageError for another shell.
std::string completion_script(std::string_view shell);

}  // namespace autotune::cli
