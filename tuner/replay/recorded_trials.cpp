// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/recorded_trials.hpp"

#include <map>
#include <set>

#include "tuner/records/records.hpp"

namespace autotune {
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

RecordedResults recorded_trials(std::vector<db::TrialRow> rows) {
  std::erase_if(rows, [](const db::TrialRow& row) {
    return row.stage != "search" || row.configuration.empty();
  });
  RecordedResults results;
  if (rows.empty()) return results;
  const std::vector<std::string> names = names_in(rows.back().configuration);
  std::map<std::string, const db::TrialRow*> latest;
  for (const db::TrialRow& row : rows) latest[row.configuration] = &row;
  for (const auto& [configuration, row] : latest) {
    if (names_in(configuration) == names) results.results.push_back(result_of(*row));
  }
  results.parameters = parameters_of(names, results.results);
  return results;
}

}  // namespace autotune
