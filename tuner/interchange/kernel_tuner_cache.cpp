// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/kernel_tuner_cache.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tuner/interchange/recorded_results.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char* kError = "__error__";
/// The sum of all costs, in files that were reduced to it.
constexpr const char* kTotal = "total_ms";
constexpr CostNames kCosts{
    "times",
    "benchmark_time",
    {"compile_time", "verification_time", "framework_time", "strategy_time"}};
/// Kernel Tuner's names of failures.
constexpr std::array kFailures{
    std::pair<std::string_view, Outcome>{"CompilationFailedConfig", Outcome::compile_error},
    std::pair<std::string_view, Outcome>{"RuntimeFailedConfig", Outcome::launch_error},
    std::pair<std::string_view, Outcome>{"InvalidConfig", Outcome::invalid},
    std::pair<std::string_view, Outcome>{"ErrorConfig", Outcome::launch_error}};

/// Milliseconds.
CheckedJson expect_time(const CheckedJson& entry, const std::string& objective) {
  if (const auto time = entry.find(kTime)) return *time;
  entry.fail(
      format("there is no \"{}\" beside the objective \"{}\": only times can be compared here",
             kTime, objective));
}

std::optional<Outcome> failure_of(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  for (const auto& [word, outcome] : kFailures) {
    if (json.get_ref<const std::string&>() == word) return outcome;
  }
  return std::nullopt;
}

/// The name of the failure: since 1.5.0 in `__error__`, before that in place of the objective.
std::optional<Outcome> failure_of(const CheckedJson& entry, const std::string& objective) {
  if (const auto error = entry.find(kError)) {
    return failure_of(error->json()).value_or(Outcome::launch_error);
  }
  const Json& answer = entry[objective].json();
  if (answer.is_string()) return failure_of(answer).value_or(Outcome::launch_error);
  if (!answer.is_number()) return Outcome::invalid;
  const Json& time = expect_time(entry, objective).json();
  const bool was_timed = time.is_number() && time.get<double>() > 0;
  return was_timed ? std::nullopt : std::optional(Outcome::invalid);
}

/// The objective; the first if there are several. Kernel Tuner marks failures in its place. Only
/// `time` is one, whatever the objective counts, and whether more of it is better.
std::string objective_of(const CheckedJson& document) {
  const auto objective = document.find("objective");
  if (!objective) return kTime;
  return objective->json().is_array() ? objective->items(1).front().text() : objective->text();
}

std::vector<double> problem_size_of(const CheckedJson& document) {
  const auto found = document.find("problem_size");
  if (!found) return {};
  if (found->json().is_number()) return {found->json().get<double>()};
  std::vector<double> sizes;
  if (!found->json().is_array()) return sizes;  // `callable`
  for (const CheckedJson& size : found->items()) {
    if (size.json().is_number()) sizes.push_back(size.json().get<double>());
  }
  return sizes;
}

std::vector<Parameter> parameters_of(const CheckedJson& document) {
  const CheckedJson values = document["tune_params"];
  std::vector<Parameter> parameters;
  for (const CheckedJson& key : document["tune_params_keys"].items()) {
    Parameter& parameter = parameters.emplace_back();
    parameter.name = key.text();
    for (const CheckedJson& value : values[parameter.name].items()) {
      parameter.values.push_back(value_of(value.json()));
    }
    drop_repeated(parameter.values);
  }
  return parameters;
}

RecordedResult result_of(const CheckedJson& entry, const std::vector<std::string>& names,
                         const std::string& objective) {
  RecordedResult result{values_of(entry, names)};
  result.compile_seconds = seconds_of(entry, "compile_time");
  result.total_seconds =
      entry.find(kTotal) ? seconds_of(entry, kTotal) : total_seconds_of(entry, kCosts);
  result.timestamp = text_of(entry, "timestamp");
  const auto bytes = entry.find("shared_bytes");
  if (bytes && bytes->json().is_number_integer()) {
    result.shared_bytes = bytes->json().get<std::int64_t>();
  }
  if (entry.find(kLowerBound)) {
    result.outcome = Outcome::pruned;
    if (!entry.find(kTime)) return result;
  } else if (const auto failure = failure_of(entry, objective)) {
    result.outcome = *failure;
    return result;
  }
  result.seconds = expect_time(entry, objective).json().get<double>() * 1e-3;
  const auto times = entry.find("times");
  if (times && times->json().is_array()) result.samples = static_cast<int>(times->json().size());
  return result;
}

std::string_view word_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::compile_error:
      return "CompilationFailedConfig";
    case Outcome::invalid:
    case Outcome::pruned:  // never run
      return "InvalidConfig";
    default:
      return "RuntimeFailedConfig";
  }
}

Json entry_of(const std::vector<Parameter>& parameters, const RecordedResult& result) {
  Json entry = Json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    entry[parameters[i].name] = json_of(result.values[i]);
  }
  if (result.seconds) {
    entry["time"] = *result.seconds * 1e3;
    entry["times"] = Json::array({*result.seconds * 1e3});
  } else {
    entry[kError] = word_of(result.outcome);
  }
  if (result.outcome == Outcome::pruned) entry[kLowerBound] = 1;
  entry["compile_time"] = result.compile_seconds * 1e3;
  for (const char* unknown :
       {"verification_time", "benchmark_time", "strategy_time", "framework_time"}) {
    entry[unknown] = 0;
  }
  entry["timestamp"] = result.timestamp;
  return entry;
}

Json head_of(const RecordedResults& results) {
  Json head{{"device_name", results.device},        {"kernel_name", results.kernel},
            {"problem_size", results.problem_size}, {"tune_params_keys", Json::array()},
            {"tune_params", Json::object()},        {"objective", Json::array({"time"})}};
  for (const Parameter& parameter : results.parameters) {
    head["tune_params_keys"].push_back(parameter.name);
    Json& values = head["tune_params"][parameter.name] = Json::array();
    for (const Value& value : parameter.values) values.push_back(json_of(value));
  }
  return head;
}

}  // namespace

RecordedResults read_kernel_tuner_cache(const CheckedJson& document) {
  RecordedResults results;
  results.device = text_of(document, "device_name");
  results.kernel = text_of(document, "kernel_name");
  results.problem_size = problem_size_of(document);
  const std::string objective = objective_of(document);
  results.parameters = parameters_of(document);
  std::vector<std::string> names;
  for (const Parameter& parameter : results.parameters) names.push_back(parameter.name);
  for (const auto& [key, entry] : document["cache"].members()) {
    results.results.push_back(result_of(entry, names, objective));
  }
  return results;
}

std::string kernel_tuner_cache(const RecordedResults& results) {
  std::string text = head_of(results).dump(0, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n\"cache\": {";
  const char* separator = "\n";
  for (const RecordedResult& result : results.results) {
    const Json entry = entry_of(results.parameters, result);
    text += format("{}{}: {}", separator, Json(key_of(result.values)).dump(),
                   entry.dump(-1, ' ', false, Json::error_handler_t::replace));
    separator = ",\n";
  }
  return text + "}\n}";
}

}  // namespace autotune
