// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/recorded_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/json/checked_json.hpp"
#include "tuner/replay/gzip.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// What a file says of one configuration, before the space is known.
struct Row {
  std::vector<Value> values;  // one a parameter
  Outcome outcome = Outcome::ok;
  std::optional<double> seconds;
  double compile_seconds = 0;
};

Value value_of(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>() ? 1 : 0);
  if (json.is_number_integer()) return Value(json.get<std::int64_t>());
  if (json.is_string()) return Value(json.get<std::string>());
  const double real = json.is_number() ? json.get<double>() : 0.5;
  if (real == std::floor(real) && std::abs(real) < 1e15) {
    return Value(static_cast<std::int64_t>(real));
  }
  return Value(json.dump());
}

/// Kernel Tuner's and T4's words for what went wrong.
Outcome outcome_of(const std::string& word) {
  static const std::map<std::string, Outcome> outcomes = {
      {"CompilationFailedConfig", Outcome::compile_error},
      {"RuntimeFailedConfig", Outcome::launch_error},
      {"InvalidConfig", Outcome::invalid},
      {"correct", Outcome::ok},
      {"compile", Outcome::compile_error},
      {"runtime", Outcome::launch_error},
      {"timeout", Outcome::timeout},
      {"correctness", Outcome::wrong},
      {"constraints", Outcome::invalid},
  };
  const auto found = outcomes.find(word);
  return found == outcomes.end() ? Outcome::launch_error : found->second;
}

/// A time, which is in ms in both formats, or the name of a failure.
void set_answer(Row& row, const Json& answer) {
  if (answer.is_number() && answer.get<double>() > 0) {
    row.seconds = answer.get<double>() * 1e-3;
  } else if (row.outcome == Outcome::ok) {
    row.outcome = answer.is_string() ? outcome_of(answer.get<std::string>()) : Outcome::invalid;
  }
}

std::vector<Value> values_of(const CheckedJson& configuration,
                             const std::vector<std::string>& names) {
  std::vector<Value> values;
  values.reserve(names.size());
  for (const std::string& name : names) values.push_back(value_of(configuration[name].json()));
  return values;
}

std::string text_or(const std::optional<CheckedJson>& node, std::string otherwise) {
  return node ? node->text() : otherwise;
}

/// 0 where the file has none.
double compile_seconds(const CheckedJson& entry) {
  const auto found = entry.find("compile_time");
  return found && found->json().is_number() ? found->json().get<double>() * 1e-3 : 0;
}

std::vector<Row> kernel_tuner_rows(const CheckedJson& document,
                                   std::vector<Parameter>& parameters) {
  const std::string objective = text_or(document.find("objective"), "time");
  const CheckedJson values = document["tune_params"];
  std::vector<std::string> names;
  for (const CheckedJson& key : document["tune_params_keys"].items()) {
    names.push_back(key.text());
    Parameter& parameter = parameters.emplace_back();
    parameter.name = names.back();
    for (const CheckedJson& value : values[names.back()].items()) {
      parameter.values.push_back(value_of(value.json()));
    }
  }
  std::vector<Row> rows;
  for (const auto& [key, entry] : document["cache"].members()) {
    Row& row = rows.emplace_back(
        Row{values_of(entry, names), Outcome::ok, std::nullopt, compile_seconds(entry)});
    set_answer(row, entry[objective].json());
  }
  return rows;
}

/// The first of what was minimised.
std::string objective_of(const CheckedJson& result) {
  const auto objectives = result.find("objectives");
  return objectives ? objectives->items(1).front().text() : "time";
}

Row t4_row(const CheckedJson& result, const std::vector<std::string>& names) {
  Row row{values_of(result["configuration"], names),
          outcome_of(text_or(result.find("invalidity"), "correct")), std::nullopt, 0};
  const std::string objective = objective_of(result);
  if (const auto measurements = result.find("measurements")) {
    for (const CheckedJson& measurement : measurements->items()) {
      if (row.outcome != Outcome::ok || measurement["name"].text() != objective) continue;
      set_answer(row, measurement["value"].json());
    }
  }
  if (row.outcome == Outcome::ok && !row.seconds) row.outcome = Outcome::invalid;
  return row;
}

std::vector<Row> t4_rows(const CheckedJson& document, std::vector<Parameter>& parameters) {
  std::vector<Row> rows;
  std::vector<std::string> names;
  for (const CheckedJson& result : document["results"].items()) {
    if (names.empty()) {
      for (const auto& [name, value] : result["configuration"].members()) names.push_back(name);
    }
    rows.push_back(t4_row(result, names));
  }
  // The format lists no values: those that occur, in ascending order.
  for (std::size_t p = 0; p < names.size(); ++p) {
    Parameter& parameter = parameters.emplace_back();
    parameter.name = names[p];
    for (const Row& row : rows) parameter.values.push_back(row.values[p]);
    std::sort(parameter.values.begin(), parameter.values.end());
    parameter.values.erase(std::unique(parameter.values.begin(), parameter.values.end()),
                           parameter.values.end());
  }
  return rows;
}

std::uint64_t rank_of(const Row& row, const std::vector<std::map<Value, std::size_t>>& levels) {
  std::uint64_t rank = 0;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    const auto level = levels[p].find(row.values[p]);
    if (level == levels[p].end()) {
      throw Error(format("a configuration has the value {}, which its parameter does not list",
                         row.values[p].text()));
    }
    rank = rank * levels[p].size() + level->second;
  }
  return rank;
}

RecordedSpace recorded_space(std::string name, std::vector<Parameter> parameters,
                             const std::vector<Row>& rows) {
  if (rows.empty()) throw Error("holds no configuration");
  std::vector<std::map<Value, std::size_t>> levels;
  for (const Parameter& parameter : parameters) {
    auto& level = levels.emplace_back();
    for (const Value& value : parameter.values) level.emplace(value, level.size());
    if (level.size() != parameter.values.size()) {
      throw Error(format("parameter {} lists a value twice", parameter.name));
    }
  }
  std::map<std::uint64_t, const Row*> by_rank;
  for (const Row& row : rows) by_rank.emplace(rank_of(row, levels), &row);
  std::vector<std::uint64_t> ranks;
  std::vector<Evaluation> answers;
  std::vector<double> compile_seconds;
  for (const auto& [rank, row] : by_rank) {
    answers.push_back({ranks.size(), row->outcome, row->seconds});
    compile_seconds.push_back(row->compile_seconds);
    ranks.push_back(rank);
  }
  return {std::move(name), ParameterSpace(std::move(parameters), std::move(ranks)),
          std::move(answers), std::move(compile_seconds)};
}

Json parse_recorded(const std::string& text, const std::string& file) {
  // An interrupted Kernel Tuner run leaves its cache with a comma and two braces open.
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end != std::string::npos && text[end] == ',') {
    return parse_json(text.substr(0, end) + "}}", file);
  }
  return parse_json(text, file);
}

}  // namespace

double RecordedSpace::best() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Evaluation& answer : answers) {
    if (answer.outcome == Outcome::ok) best = std::min(best, answer.seconds.value_or(best));
  }
  return best;
}

std::size_t RecordedSpace::failures() const {
  return static_cast<std::size_t>(
      std::count_if(answers.begin(), answers.end(),
                    [](const Evaluation& answer) { return answer.outcome != Outcome::ok; }));
}

RecordedSpace read_recorded_space(const std::filesystem::path& file) {
  const Json json = parse_recorded(read_maybe_gzip(file), file.string());
  const bool cache = json.is_object() && json.contains("cache");
  if (!cache && !(json.is_object() && json.contains("results"))) {
    throw Error(format("{}: is neither a Kernel Tuner cache (`cache`) nor T4 results (`results`)",
                       file.string()));
  }
  const std::string name = file.filename().string();
  const CheckedJson document(json, file.string());
  std::vector<Parameter> parameters;
  const std::vector<Row> rows =
      cache ? kernel_tuner_rows(document, parameters) : t4_rows(document, parameters);
  try {
    return recorded_space(name.substr(0, name.find('.')), std::move(parameters), rows);
  } catch (const Error& error) {
    throw Error(format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace autotune
