// SPDX-License-Identifier: Apache-2.0
// Common arguments of several verbs: problems, settings, the database.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"

namespace autotune::cli {

/// Items of the form `NAME=VALUE`, given with `option`, each name once. Throws UsageError.
NamedValues named_values_in(const std::vector<std::string>& items, std::string_view option,
                            std::string_view example);

/// The settings of `--set NAME=VALUE`. Throws UsageError.
NamedValues settings_of(const Arguments& arguments);

/// The parameters of `--fix NAME=VALUE`. Throws UsageError.
NamedValues fixed_of(const Arguments& arguments);

/// Whether any size of the target has more than one value.
bool needs_sizes(const Target& target);

/// Sizes that the target offers, as text: 512 for each, or the nearest larger one.
std::string example_sizes(const Target& target);

/// The sizes of each problem, with the default of those that are left out. A fixed size may always
/// be left out. Throws UsageError.
std::vector<NamedValues> sizes_in(std::string_view text, const Target& target,
                                  std::string_view option = "--sizes");

/// `--sizes` and `--set` for a target. Throws UsageError.
std::vector<Problem> problems_of(const Arguments& arguments, const Target& target);

/// `--db`, else db::default_store_path().
std::filesystem::path database_path(const Arguments& arguments);

}  // namespace autotune::cli
