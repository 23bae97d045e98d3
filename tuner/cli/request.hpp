// SPDX-License-Identifier: Apache-2.0
// What several verbs read from their arguments alike: problems, settings, the database.
#pragma once

#include <filesystem>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"

namespace autotune::cli {

/// The settings of `--set NAME=VALUE`. Throws UsageError for an item without `=`.
NamedValues settings_of(const Arguments& arguments);

/// The parameters of `--fix NAME=VALUE`. Throws UsageError for an item without `=`.
NamedValues fixed_of(const Arguments& arguments);

/// `--sizes` and `--set` for a target. Throws UsageError.
std::vector<Problem> problems_of(const Arguments& arguments, const Target& target);

/// `--db`, else db::default_store_path().
std::filesystem::path database_path(const Arguments& arguments);

}  // namespace autotune::cli
