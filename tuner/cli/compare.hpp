// SPDX-License-Identifier: Apache-2.0
// Times of the configurations tried at a problem, relative to the fastest.
#pragma once

#include <limits>
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

inline constexpr double kUnserved = std::numeric_limits<double>::infinity();

/// Ratios by configuration, of the search's times, which the anchor makes comparable. Infinity for
/// a configuration that fails, or whose lower bound is within `limit` (1.05: 5 % slower than the
/// fastest). Empty without trials.
std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit);

/// A row for each configuration, with kUnserved where it was not tried.
template <class Place>
std::vector<std::vector<double>> ratio_rows(const std::vector<std::string>& configurations,
                                            const std::vector<Place>& places) {
  std::vector<std::vector<double>> rows;
  for (const std::string& configuration : configurations) {
    auto& row = rows.emplace_back();
    for (const Place& place : places) {
      const auto found = place.ratios.find(configuration);
      row.push_back(found != place.ratios.end() ? found->second : kUnserved);
    }
  }
  return rows;
}

// The timed trials of a problem, sorted by one of their columns.

/// The latest timed trial of each configuration, at most `most`, sorted by the column. The least
/// comes first, but the largest occupancy; trials without a value come last.
std::vector<db::TrialRow> sorted_trials(std::vector<db::TrialRow> trials, const std::string& column,
                                        std::size_t most);

std::string trials_text(const std::vector<db::TrialRow>& trials, const Readable& readable);
Json trials_json(const std::vector<db::TrialRow>& trials);

}  // namespace autotune::cli
