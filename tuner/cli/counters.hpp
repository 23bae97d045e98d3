// SPDX-License-Identifier: Apache-2.0
// `--counters`: counts finalists with hardware counters, and shows the figures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/json/json.hpp"
#include "tuner/report/counted.hpp"

namespace autotune::cli {

/// `--counters`.
extern const Option kCountersOption;

/// Counts the finalists of these results on a GPU of this machine, in a worker, and stores the
/// figures. `device` is the text of --device. Throws Error if nothing can be counted.
void count_entries(const std::vector<db::TunedEntry>& entries, const Target& target,
                   Plugins& plugins, db::TunedStore& store, const std::string& device,
                   const std::function<void(const std::string&)>& warn);

/// Lines for people, aligned with those of explain. Empty if nothing was counted.
std::string counters_text(const std::string& figures, const report::Expected& expected);

/// `{"instructions": 4096, …}`.
Json counters_json(const std::string& figures);

/// The figures of a configuration among the rows; empty if it was not counted.
std::string figures_of(const std::vector<db::CounterRow>& rows, const std::string& configuration);

}  // namespace autotune::cli
