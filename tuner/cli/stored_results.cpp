// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/stored_results.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// `2026-11-22T14:34:21.102791Z` as Python writes it.
std::string python_time_text(std::string text) {
  if (text.ends_with('Z')) text.replace(text.size() - 1, 1, "+00:00");
  if (text.size() > 10) text[10] = ' ';
  return text;
}

RecordedResult result_of(const db::TrialRow& row) {
  const Trial trial = trial_of(row);
  RecordedResult result;
  for (const NamedValue& each : trial.configuration) result.values.push_back(each.value);
  result.outcome = trial.outcome;
  if (trial.measurement) {
    result.seconds = trial.measurement->median;
    result.samples = trial.measurement->samples;
  }
  result.compile_seconds = trial.compile_seconds;
  result.timestamp = python_time_text(row.created_at);
  return result;
}

std::vector<std::string> names_in(const std::string& configuration) {
  std::vector<std::string> names;
  for (const NamedValue& each : parse_named_values(configuration)) names.push_back(each.name);
  return names;
}

/// Each with the values that occur, in ascending order.
std::vector<Parameter> parameters_of(const std::vector<std::string>& names,
                                     const std::vector<RecordedResult>& results) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::set<Value> values;
    for (const RecordedResult& result : results) values.insert(result.values[i]);
    parameters.push_back({names[i], {values.begin(), values.end()}, std::nullopt});
  }
  return parameters;
}

}  // namespace

RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry) {
  RecordedResults results;
  results.device = entry.device.name;
  results.kernel = entry.kernel.target;
  for (const NamedValue& size : problem_of(entry).sizes) {
    results.problem_size.push_back(static_cast<double>(size.value.integer()));
  }
  std::vector<db::TrialRow> rows = store.trials(entry.best.key);
  std::erase_if(rows, [](const db::TrialRow& row) {
    return row.stage != "search" || row.configuration.empty();
  });
  if (rows.empty()) {
    throw Error(format("{} {} on {}: its trials are not in {}, only its answer", results.kernel,
                       entry.best.key.problem, results.device, store.path().string()));
  }
  const std::vector<std::string> names = names_in(rows.back().configuration);
  std::map<std::string, const db::TrialRow*> latest;
  for (const db::TrialRow& row : rows) latest[row.configuration] = &row;
  for (const auto& [configuration, row] : latest) {
    if (names_in(configuration) == names) results.results.push_back(result_of(*row));
  }
  results.parameters = parameters_of(names, results.results);
  return results;
}

db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store) {
  arguments.text("target");
  const std::vector<db::TunedEntry> entries =
      arguments.has("size") ? exact_entries(arguments, store, target_name(arguments))
                            : chosen_entries(arguments, store);
  if (entries.size() == 1) return entries.front();
  if (entries.empty()) {
    throw Error(format("{} of size {} is not tuned in {}", arguments.text("target"),
                       arguments.text("size"), store.path().string()));
  }
  std::vector<std::string> names;
  for (const db::TunedEntry& entry : entries) {
    names.push_back(
        format("{} on {} ({})", entry.best.key.problem, entry.device.name, entry.best.key.policy));
  }
  throw Error(format("{} problems are tuned: choose one with --size, --device or --set: {}",
                     entries.size(), joined(names, "; ")));
}

}  // namespace autotune::cli
