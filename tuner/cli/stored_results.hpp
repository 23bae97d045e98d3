// SPDX-License-Identifier: Apache-2.0
// The stored trials of one problem in the form of recorded results.
#pragma once

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/interchange/recorded_results.hpp"

namespace autotune::cli {

/// The trials of the search or an import, each configuration once with its latest result.
/// Configurations with other parameters than the latest are of an earlier manifest, and left out.
RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry);

/// The one problem that --target, --size, --device and --set mean. Throws Error that lists them if
/// there are several.
db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store);

}  // namespace autotune::cli
