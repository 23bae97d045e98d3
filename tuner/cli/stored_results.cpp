// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/stored_results.hpp"

#include <algorithm>

#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/replay/recorded_trials.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

std::vector<db::TunedEntry> searched_entries(const Arguments& arguments,
                                             const db::TunedStore& store) {
  arguments.text("target");
  std::vector<db::TunedEntry> entries = stored_entries(arguments, store);
  if (entries.empty()) {
    throw Error(format("{} of size {} is not tuned in {}", arguments.text("target"),
                       arguments.text("size"), store.path().string()));
  }
  const auto has_no_trials = [&](const db::TunedEntry& entry) {
    return store.trials(entry.best.key).empty();
  };
  if (!std::ranges::all_of(entries, has_no_trials)) std::erase_if(entries, has_no_trials);
  return entries;
}

RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry) {
  const bool has_trials = !store.trials(entry.best.key).empty();
  RecordedResults results;
  if (has_trials) results = recorded_trials(store.history(entry.best.key));
  results.device = entry.device.name;
  results.kernel = entry.kernel.target;
  for (const NamedValue& size : problem_of(entry).sizes) {
    results.problem_size.push_back(static_cast<double>(size.value.integer()));
  }
  if (results.results.empty()) {
    throw Error(format("{} {} on {}: its trials are not in {}, only its answer", results.kernel,
                       entry.best.key.problem, results.device, store.path().string()));
  }
  return results;
}

db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store) {
  std::vector<db::TunedEntry> entries = searched_entries(arguments, store);
  prefer_default_settings(arguments, entries);
  if (entries.size() == 1) return entries.front();
  std::vector<std::string> names;
  for (const db::TunedEntry& entry : entries) {
    names.push_back(
        format("{} on {} ({})", entry.best.key.problem, entry.device.name, entry.best.key.policy));
  }
  throw Error(
      format("{} problems are tuned: choose one with --size, --device, --set or --context: {}",
             entries.size(), joined(names, "; ")));
}

}  // namespace autotune::cli
