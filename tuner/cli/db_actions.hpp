// SPDX-License-Identifier: Apache-2.0
// Actions of autotune db in their own sources.
#pragma once

#include "tuner/cli/tuned_entries.hpp"

namespace autotune::cli {

int run_export(const Arguments& arguments);
/// import and merge.
int run_import(const Arguments& arguments);
/// pin and unpin.
int run_pin(const Arguments& arguments);

}  // namespace autotune::cli
