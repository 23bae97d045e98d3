// SPDX-License-Identifier: Apache-2.0
// Actions of autotune db in their own sources.
#pragma once

#include <iosfwd>

#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/tuned_entries.hpp"

namespace autotune::cli {

int run_export(const Arguments& arguments);
/// export --format cpp --embed: compiles the answers of --target and writes a header with them.
/// Throws UsageError if their settings differ, Error if there is no answer.
int run_export_embedded(const Arguments& arguments);
/// export --format source.
int run_export_source(const Arguments& arguments);
/// import and merge.
int run_import(const Arguments& arguments);
int run_convert_names(const Arguments& arguments);

}  // namespace autotune::cli
