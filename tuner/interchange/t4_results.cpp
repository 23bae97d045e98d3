// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t4_results.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "tuner/interchange/recorded_values.hpp"

namespace autotune {
namespace {

/// The word for each outcome; of several outcomes with one word, the first is read.
constexpr std::array kWords{
    std::pair<Outcome, std::string_view>{Outcome::ok, "correct"},
    std::pair<Outcome, std::string_view>{Outcome::pruned, "correct"},
    std::pair<Outcome, std::string_view>{Outcome::compile_error, "compile"},
    std::pair<Outcome, std::string_view>{Outcome::launch_error, "runtime"},
    std::pair<Outcome, std::string_view>{Outcome::crash, "runtime"},
    std::pair<Outcome, std::string_view>{Outcome::timeout, "timeout"},
    std::pair<Outcome, std::string_view>{Outcome::wrong, "correctness"},
    std::pair<Outcome, std::string_view>{Outcome::nondeterministic, "correctness"},
    std::pair<Outcome, std::string_view>{Outcome::invalid, "constraints"}};

Outcome outcome_of(std::string_view word) {
  for (const auto& [outcome, name] : kWords) {
    if (name == word) return outcome;
  }
  return Outcome::launch_error;
}

std::string_view word_of(const RecordedResult& result) {
  if (result.outcome == Outcome::pruned && !result.seconds) return "constraints";  // never run
  for (const auto& [outcome, name] : kWords) {
    if (outcome == result.outcome) return name;
  }
  return "runtime";
}

/// The first objective.
std::string first_objective_of(const CheckedJson& result) {
  const auto objectives = result.find("objectives");
  return objectives ? objectives->items(1).front().text() : "time";
}

void read_times(const CheckedJson& result, RecordedResult& read) {
  const auto times = result.find("times");
  if (!times || !times->json().is_object()) return;
  read.compile_seconds = seconds_of(*times, "compilation");
  if (read.compile_seconds == 0) read.compile_seconds = seconds_of(*times, "compilation_time");
  const auto runs = times->find("runtimes");
  if (runs && runs->json().is_array()) read.samples = static_cast<int>(runs->json().size());
}

void read_measurements(const CheckedJson& result, RecordedResult& read) {
  const std::string objective = first_objective_of(result);
  const auto measurements = result.find("measurements");
  if (!measurements) return;
  for (const CheckedJson& measurement : measurements->items()) {
    const std::string name = measurement["name"].text();
    const Json& value = measurement["value"].json();
    if (name == kLowerBound) read.outcome = Outcome::pruned;
    if (name != objective) continue;
    if (value.is_number() && value.get<double>() > 0) read.seconds = value.get<double>() * 1e-3;
  }
}

RecordedResult result_of(const CheckedJson& result, const std::vector<std::string>& names) {
  RecordedResult read{values_of(result["configuration"], names)};
  read.outcome = outcome_of(text_of(result, "invalidity", "correct"));
  read.timestamp = text_of(result, "timestamp");
  read_times(result, read);
  if (read.outcome == Outcome::ok) read_measurements(result, read);
  if (read.outcome == Outcome::ok && !read.seconds) read.outcome = Outcome::invalid;
  return read;
}

Json measurements_of(const RecordedResult& result) {
  Json all = Json::array();
  if (!result.seconds) return all;
  all.push_back({{"name", "time"}, {"value", *result.seconds * 1e3}, {"unit", "ms"}});
  if (result.outcome == Outcome::pruned) {
    all.push_back({{"name", kLowerBound}, {"value", 1}, {"unit", ""}});
  }
  return all;
}

Json result_of(const std::vector<Parameter>& parameters, const RecordedResult& result) {
  Json configuration = Json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    configuration[parameters[i].name] = json_of(result.values[i]);
  }
  const std::string_view word = word_of(result);
  Json runs = Json::array();
  if (result.seconds) runs.push_back(*result.seconds * 1e3);
  return {{"timestamp", result.timestamp},
          {"configuration", configuration},
          {"times",
           {{"compilation", result.compile_seconds * 1e3},
            {"benchmark", 0},
            {"framework", 0},
            {"search_algorithm", 0},
            {"validation", 0},
            {"runtimes", runs}}},
          {"invalidity", word},
          {"correctness", word == "correctness" ? 0 : 1},
          {"measurements", measurements_of(result)},
          {"objectives", Json::array({"time"})}};
}

}  // namespace

RecordedResults read_t4_results(const CheckedJson& document) {
  RecordedResults results;
  results.format = RecordedResults::Format::t4;
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
  for (const CheckedJson& result : document["results"].items()) {
    if (names.empty()) {
      for (const auto& [name, value] : result["configuration"].members()) names.push_back(name);
    }
    results.results.push_back(result_of(result, names));
    rows.push_back(results.results.back().values);
  }
  // The format does not list values: take those that occur.
  for (std::size_t p = 0; p < names.size(); ++p) {
    results.parameters.push_back(parameter_of(names[p], p, rows));
  }
  return results;
}

std::string t4_results(const RecordedResults& results) {
  Json document{{"results", Json::array()},
                {"schema_version", "1.0.0"},
                {"metadata", {{"timeunit", "milliseconds"}}}};
  if (!results.device.empty()) document["metadata"]["device"] = results.device;
  if (!results.kernel.empty()) document["metadata"]["kernel"] = results.kernel;
  for (const RecordedResult& result : results.results) {
    document["results"].push_back(result_of(results.parameters, result));
  }
  return json_text(document) + '\n';
}

}  // namespace autotune
