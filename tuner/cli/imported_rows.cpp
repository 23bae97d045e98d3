// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/imported_rows.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string policy_of(RecordedResults::Format file) {
  return std::string(db::kOtherTuner) +
         (file == RecordedResults::Format::t4 ? "t4" : "kernel_tuner");
}

/// Converts `2026-11-22 14:34:21.102791+00:00` to our form. Returns `otherwise` for other forms.
std::string time_text_of(const std::string& timestamp, const std::string& otherwise) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00.000000", kUtc = "+00:00";
  if (timestamp.size() != kForm.size() + kUtc.size() || !timestamp.ends_with(kUtc)) {
    return otherwise;
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = timestamp[i] >= '0' && timestamp[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : timestamp[i] != kForm[i]) return otherwise;
  }
  return timestamp.substr(0, 10) + 'T' + timestamp.substr(11, 15) + 'Z';
}

/// The position of a target's parameter in the file; else its only possible value.
struct SpaceColumn {
  std::optional<std::size_t> place;
  Value value;
};

SpaceColumn column_of(const Parameter& parameter, const RecordedResults& results,
                      const std::string& target) {
  const auto found = std::ranges::find(results.parameters, parameter.name, &Parameter::name);
  if (found != results.parameters.end()) {
    return {static_cast<std::size_t>(found - results.parameters.begin()), {}};
  }
  if (parameter.values.size() == 1) return {std::nullopt, parameter.values.front()};
  throw Error(format("it has no parameter {} of the target {}: name it as the file does",
                     parameter.name, target));
}

/// A parameter of one value only, such as a filter's width, may be a size of the target.
void expect_known(const RecordedResults& results, const Target& target) {
  std::vector<std::string> names;
  for (const Parameter& parameter : target.parameters) names.push_back(parameter.name);
  for (const Parameter& recorded : results.parameters) {
    if (recorded.values.size() == 1 || std::ranges::count(names, recorded.name) > 0) continue;
    throw Error(format("the target {} has no parameter {}: {}", target.name, recorded.name,
                       suggestion(recorded.name, names)));
  }
}

std::vector<SpaceColumn> columns_of(const RecordedResults& results, const Target& target) {
  expect_known(results, target);
  std::vector<SpaceColumn> columns;
  for (const Parameter& parameter : target.parameters) {
    columns.push_back(column_of(parameter, results, target.name));
  }
  return columns;
}

/// The parameter's value that the recorded one means. In a file, `1.5` is a word and `2.0` an
/// integer.
Value value_in(const Parameter& parameter, const Value& recorded) {
  const Value given = recorded.is_word() ? parse_value(recorded.word()) : recorded;
  const Value* const meant = meant_value(parameter.values, given);
  return meant ? *meant : recorded;
}

Trial trial_of(const RecordedResult& result, Configuration configuration) {
  Trial trial;
  trial.configuration = std::move(configuration);
  trial.outcome = result.outcome;
  if (result.seconds) {
    const double seconds = *result.seconds;
    trial.measurement = Measurement{seconds, seconds, seconds, result.samples, 0, false};
  }
  trial.compile_seconds = result.compile_seconds;
  return trial;
}

db::DecisionRow decision_for(const db::TrialRow& fastest, const std::string& created_at) {
  db::DecisionRow row;
  static_cast<db::Times&>(row) = fastest;
  row.key = fastest.key;
  row.configuration = fastest.configuration;
  row.gflops = fastest.gflops;
  row.provenance = "imported";
  row.created_at = created_at;
  return row;
}

void decide(ImportedRows& rows) {
  const db::TrialRow* fastest = nullptr;
  std::string latest = rows.started_at;
  for (const db::TrialRow& row : rows.trials) {
    latest = std::max(latest, row.created_at);
    if (row.outcome != "ok") continue;
    if (!fastest || *row.median_ns < *fastest->median_ns) fastest = &row;
  }
  if (fastest) rows.decision = decision_for(*fastest, latest);
}

}  // namespace

ImportedRows imported_rows(const RecordedResults& results, const Target& target,
                           const Problem& problem, const DeviceInfo& device,
                           const std::string& otherwise) {
  const std::vector<SpaceColumn> columns = columns_of(results, target);
  const ParameterSpace space = space_of(target, problem, device);
  const double flops = work_of(target, problem, device).flops;
  ImportedRows rows;
  for (const RecordedResult& result : results.results) {
    Configuration configuration;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const SpaceColumn& column = columns[i];
      const Parameter& parameter = target.parameters[i];
      configuration.push_back(
          {parameter.name,
           column.place ? value_in(parameter, result.values[*column.place]) : column.value});
    }
    if (!space.find(configuration)) {
      ++rows.left_out;
      continue;
    }
    db::TrialRow& row =
        rows.trials.emplace_back(trial_row(trial_of(result, std::move(configuration)), flops));
    row.key.problem = problem.text();
    row.key.policy = policy_of(results.format);
    row.created_at = time_text_of(result.timestamp, otherwise);
    if (rows.started_at.empty() || row.created_at < rows.started_at) {
      rows.started_at = row.created_at;
    }
  }
  decide(rows);
  return rows;
}

}  // namespace autotune::cli
