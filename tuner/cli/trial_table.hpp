// SPDX-License-Identifier: Apache-2.0
// The timed trials of a problem, sorted by one of their columns.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/json/json.hpp"

namespace autotune::cli {

/// `time, registers, occupancy, compile`.
std::vector<std::string> trial_columns();

/// The latest timed trial of each configuration, at most `most`, sorted by the column. The least
/// comes first, but the largest occupancy; trials without a value come last. Throws UsageError for
/// an unknown column.
std::vector<db::TrialRow> sorted_trials(std::vector<db::TrialRow> trials, const std::string& column,
                                        std::size_t most);

std::string trials_text(const std::vector<db::TrialRow>& trials, const Readable& readable);
Json trials_json(const std::vector<db::TrialRow>& trials);

}  // namespace autotune::cli
