// SPDX-License-Identifier: Apache-2.0
// Actions of autotune import in their own sources.
#pragma once

#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/verb.hpp"

namespace autotune::cli {

/// Recorded results: rows of the database.
int import_results(const Arguments& arguments, const std::vector<std::string>& files);
/// T1 problems: manifests.
int import_t1(const Arguments& arguments, const std::vector<std::string>& files);

}  // namespace autotune::cli
