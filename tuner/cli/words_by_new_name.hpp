// SPDX-License-Identifier: Apache-2.0
// Old names of targets on the command line. Goes with target/old_names.hpp.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

/// The arguments of a verb, with a target's old name, and sizes in its order, by the new one. A
/// line of `notes` says so. Throws UsageError.
std::vector<std::string> words_by_new_name(const Verb& verb, std::vector<std::string> words,
                                           std::ostream& notes);

}  // namespace autotune::cli
