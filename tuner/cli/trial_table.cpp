// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/trial_table.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr double kLast = std::numeric_limits<double>::infinity();

/// A column to sort by, in ascending order of `rank`.
struct Column {
  const char* name;
  double (*rank)(const db::TrialRow& trial);
};

constexpr std::array<Column, 4> kColumns{{
    {"time", [](const db::TrialRow& trial) { return trial.median_ns.value_or(kLast); }},
    {"registers",
     [](const db::TrialRow& trial) {
       return trial.registers ? static_cast<double>(*trial.registers) : kLast;
     }},
    {"occupancy",
     [](const db::TrialRow& trial) { return trial.occupancy ? -*trial.occupancy : kLast; }},
    {"compile", [](const db::TrialRow& trial) { return trial.compile_seconds; }},
}};

const Column& column_called(const std::string& name) {
  const auto found = std::ranges::find(kColumns, name, [](const Column& one) { return one.name; });
  if (found != kColumns.end()) return *found;
  throw UsageError(format("--sort \"{}\": there is no such column; {}", name,
                          suggestion(name, trial_columns())));
}

template <class T>
std::string text_or_dash(const std::optional<T>& value, double factor = 1) {
  return value ? format("{:.4g}", factor * static_cast<double>(*value)) : "-";
}

}  // namespace

std::vector<std::string> trial_columns() {
  std::vector<std::string> names;
  for (const Column& column : kColumns) names.emplace_back(column.name);
  return names;
}

std::vector<db::TrialRow> sorted_trials(std::vector<db::TrialRow> trials, const std::string& column,
                                        std::size_t most) {
  const Column& by = column_called(column);
  std::map<std::string, db::TrialRow> latest;
  for (db::TrialRow& trial : trials) {
    if (trial.outcome != "ok" || !trial.median_ns) continue;
    std::string configuration = trial.configuration;
    latest[std::move(configuration)] = std::move(trial);
  }
  std::vector<db::TrialRow> sorted;
  for (auto& [configuration, trial] : latest) sorted.push_back(std::move(trial));
  std::ranges::stable_sort(sorted, {}, [&](const db::TrialRow& trial) {
    return std::pair(by.rank(trial), *trial.median_ns);
  });
  sorted.resize(std::min(most, sorted.size()));
  return sorted;
}

std::string trials_text(const std::vector<db::TrialRow>& trials, const Readable& readable) {
  std::string text = format("{:>10} {:>9} {:>9} {:>10}  configuration\n", "time", "registers",
                            "occupancy", "compile");
  for (const db::TrialRow& trial : trials) {
    const std::string occupancy = trial.occupancy ? text_or_dash(trial.occupancy, 100) + " %" : "-";
    text += format("{:>10} {:>9} {:>9} {:>10}  {}\n", time_text(*trial.median_ns * kNanosecond),
                   text_or_dash(trial.registers), occupancy,
                   trial.compile_seconds > 0 ? time_text(trial.compile_seconds) : "-",
                   readable.configuration(trial.configuration));
  }
  return text;
}

Json trials_json(const std::vector<db::TrialRow>& trials) {
  Json all = Json::array();
  for (const db::TrialRow& trial : trials) {
    all.push_back({{"config", json_of(parse_named_values(trial.configuration))},
                   {"median_ns", *trial.median_ns},
                   {"registers", json_of(trial.registers)},
                   {"shared_bytes", json_of(trial.shared_bytes)},
                   {"occupancy", json_of(trial.occupancy)},
                   {"compile_seconds", trial.compile_seconds}});
  }
  return all;
}

}  // namespace autotune::cli
