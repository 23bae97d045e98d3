// SPDX-License-Identifier: Apache-2.0
// The answers of a database that are exported as code.
#pragma once

#include <vector>

#include "tuner/cli/answers.hpp"

namespace autotune::cli {

/// The current answers of --target (and --size, --device, --set) on GPUs, one for each problem and
/// GPU: that of the default policy, else the first. Says on stderr what is left out. Throws Error
/// if there are none.
std::vector<db::TunedEntry> exported_entries(const Arguments& arguments, Databases& databases,
                                             AnswerJudge& judge);

/// A target's name as a C++ identifier.
std::string identifier_of(std::string name);

}  // namespace autotune::cli
