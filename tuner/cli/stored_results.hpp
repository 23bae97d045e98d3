// SPDX-License-Identifier: Apache-2.0
// The stored trials of one problem in the form of recorded results.
#pragma once

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/interchange/recorded_results.hpp"

namespace autotune::cli {

/// The trials of the search or an import: the latest result of each configuration. Leaves out
/// configurations of an earlier manifest, which have other parameters than the latest one.
/// What failed under another policy has failed here, too.
RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry);

/// Leaves out entries without trials, if others have some. A search stores its trials under the
/// context that decides, and for other contexts only what its playoff decided there.
void keep_searched(std::vector<db::TunedEntry>& entries, const db::TunedStore& store);

/// The one problem with trials selected by --target, --size, --device, --set and --context. Throws
/// Error that lists them if there are several.
db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store);

}  // namespace autotune::cli
