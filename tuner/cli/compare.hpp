// SPDX-License-Identifier: Apache-2.0
// Times of the configurations tried at a problem, relative to the fastest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/json/json.hpp"

namespace autotune::cli {

/// `--within` as a ratio: 1.05 for `5` or `5%`. Throws UsageError.
double limit_of(const Arguments& arguments);

/// Ratios by configuration, of the search's times, which the anchor makes comparable. Infinity for
/// a configuration that fails, or whose lower bound is within `limit` (1.05: 5 % slower than the
/// fastest). Empty without trials.
std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit);

// The timed trials of a problem, sorted by one of their columns.

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
