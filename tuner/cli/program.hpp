// SPDX-License-Identifier: Apache-2.0
// The common frame of programs with a command line.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

/// The arguments of a verb, with a target's old name, and sizes in its order, by the new one. A
/// line of `notes` says so. A name that is not listed means a manifest of this folder. Throws
/// UsageError.
std::vector<std::string> words_by_new_name(const Verb& verb, std::vector<std::string> words,
                                           std::ostream& notes);

/// Runs `body` with safe streams and returns its exit status. Turns an exception into one sentence
/// on stderr and a status.
int run_program(const std::function<int()>& body);

}  // namespace autotune::cli
