// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include <algorithm>
#include <utility>

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

/// The word of each outcome in both formats; of several outcomes with one word, the first is read.
struct Words {
  Outcome outcome;
  std::string_view kernel_tuner, t4;
};
constexpr std::array kWords{
    Words{Outcome::compile_error, "CompilationFailedConfig", "compile"},
    Words{Outcome::launch_error, "RuntimeFailedConfig", "runtime"},
    Words{Outcome::ok, "RuntimeFailedConfig", "correct"},  // a cache has no word for it
    Words{Outcome::crash, "RuntimeFailedConfig", "runtime"},
    Words{Outcome::killed, "RuntimeFailedConfig", "runtime"},
    Words{Outcome::timeout, "RuntimeFailedConfig", "timeout"},
    Words{Outcome::wrong, "RuntimeFailedConfig", "correctness"},
    Words{Outcome::nondeterministic, "RuntimeFailedConfig", "correctness"},
    Words{Outcome::invalid, "InvalidConfig", "constraints"},
    Words{Outcome::pruned, "InvalidConfig", "correct"}};

Outcome outcome_of(std::string_view word, std::string_view Words::*format) {
  const auto found = std::ranges::find(kWords, word, format);
  return found == kWords.end() ? Outcome::launch_error : found->outcome;
}

std::string_view word_of(Outcome outcome, std::string_view Words::*format) {
  return *std::ranges::find(kWords, outcome, &Words::outcome).*format;
}

/// The values of a result by their parameters' names.
Json configuration_of(const std::vector<Parameter>& parameters, const RecordedResult& result) {
  Json configuration = Json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    configuration[parameters[i].name] = json_of(result.values[i]);
  }
  return configuration;
}

/// Milliseconds.
CheckedJson expect_time(const CheckedJson& entry, const std::string& objective) {
  if (const auto time = entry.find(kTime)) return *time;
  entry.fail(
      format("there is no \"{}\" beside the objective \"{}\": only times can be compared here",
             kTime, objective));
}

Outcome failure_of(const Json& word) {
  if (!word.is_string()) return Outcome::launch_error;
  return outcome_of(word.get_ref<const std::string&>(), &Words::kernel_tuner);
}

/// The name of the failure: since 1.5.0 in `__error__`, before that in place of the objective.
std::optional<Outcome> failure_of(const CheckedJson& entry, const std::string& objective) {
  if (const auto error = entry.find(kError)) {
    return failure_of(error->json());
  }
  const Json& answer = entry[objective].json();
  if (answer.is_string()) return failure_of(answer);
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
  result.predicted_seconds = seconds_of(entry, "predicted_ms");
  const auto is_default = entry.find("is_default");
  result.is_default = is_default && is_default->json() == Json(true);
  result.timestamp = text_of(entry, "timestamp");
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

Json entry_of(const std::vector<Parameter>& parameters, const RecordedResult& result) {
  Json entry = configuration_of(parameters, result);
  if (result.seconds) {
    entry["time"] = *result.seconds * 1e3;
    entry["times"] = Json::array({*result.seconds * 1e3});
  } else {
    entry[kError] = word_of(result.outcome, &Words::kernel_tuner);
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

namespace {

/// Seconds of a unit of time; nullopt for any other text.
std::optional<double> unit_of(std::string_view text) {
  static constexpr std::array kUnits{std::pair<std::string_view, double>{"s", 1},
                                     std::pair<std::string_view, double>{"seconds", 1},
                                     std::pair<std::string_view, double>{"ms", 1e-3},
                                     std::pair<std::string_view, double>{"milliseconds", 1e-3},
                                     std::pair<std::string_view, double>{"us", 1e-6},
                                     std::pair<std::string_view, double>{"microseconds", 1e-6},
                                     std::pair<std::string_view, double>{"ns", 1e-9},
                                     std::pair<std::string_view, double>{"nanoseconds", 1e-9}};
  for (const auto& [name, seconds] : kUnits) {
    if (name == text) return seconds;
  }
  return std::nullopt;
}

/// Of times that name none: milliseconds if the file has none either.
double time_unit_of(const CheckedJson& document) {
  const auto metadata = document.find("metadata");
  const auto given = metadata ? metadata->find("timeunit") : std::nullopt;
  if (!given) return 1e-3;
  const std::optional<double> unit = unit_of(given->text());
  if (!unit) given->fail("is no unit of time: seconds, milliseconds, microseconds or nanoseconds");
  return *unit;
}

/// The first objective.
std::string first_objective_of(const CheckedJson& result) {
  const auto objectives = result.find("objectives");
  return objectives ? objectives->items(1).front().text() : kTime;
}

void read_times(const CheckedJson& result, double unit, RecordedResult& read) {
  const auto times = result.find("times");
  if (!times || !times->json().is_object()) return;
  const char* const compilation = times->find("compilation") ? "compilation" : "compilation_time";
  read.compile_seconds = seconds_of(*times, compilation, unit);
  read.total_seconds = total_seconds_of(
      *times,
      {"runtimes", "benchmark", {compilation, "validation", "framework", "search_algorithm"}},
      unit);
  const auto runs = times->find("runtimes");
  if (runs && runs->json().is_array()) read.samples = static_cast<int>(runs->json().size());
}

/// The unit of a measurement that is a time: the objective, if it has a unit of time, or `time`.
/// nullopt for another measurement.
std::optional<double> unit_of_time(const CheckedJson& measurement, const std::string& objective,
                                   double otherwise) {
  const std::string name = measurement["name"].text();
  if (name != objective && name != kTime) return std::nullopt;
  const std::string unit = text_of(measurement, "unit");
  if (const auto known = unit_of(unit)) return known;
  if (name != kTime) return std::nullopt;
  if (unit.empty()) return otherwise;
  measurement["unit"].fail(format("\"{}\" is no unit of time: s, ms, us or ns", unit));
}

/// The objective comes before `time`, if both are times. Throws Error if there is no time, whatever
/// the objective counts, and whether more of it is better.
void read_measurements(const CheckedJson& result, double unit, RecordedResult& read) {
  const std::string objective = first_objective_of(result);
  const auto measurements = result.find("measurements");
  if (!measurements) return;
  bool is_timed = false, is_objective = false;
  for (const CheckedJson& measurement : measurements->items()) {
    const std::string name = measurement["name"].text();
    const Json& value = measurement["value"].json();
    if (name == kLowerBound) read.outcome = Outcome::pruned;
    const auto seconds = unit_of_time(measurement, objective, unit);
    if (!seconds || is_objective) continue;
    is_timed = true;
    is_objective = name == objective;
    read.seconds.reset();
    if (value.is_number() && value.get<double>() > 0) read.seconds = value.get<double>() * *seconds;
  }
  if (is_timed || read.outcome != Outcome::ok || measurements->json().empty()) return;
  measurements->fail(
      format("the objective \"{}\" is no time, and there is no \"{}\" beside it: only times can "
             "be compared here",
             objective, kTime));
}

RecordedResult result_of(const CheckedJson& result, const std::vector<std::string>& names,
                         double unit) {
  RecordedResult read{values_of(result["configuration"], names)};
  read.outcome = outcome_of(text_of(result, "invalidity", "correct"), &Words::t4);
  read.timestamp = text_of(result, "timestamp");
  read_times(result, unit, read);
  const bool may_be_pruned = read.outcome == Outcome::invalid;
  if (read.outcome == Outcome::ok || may_be_pruned) read_measurements(result, unit, read);
  if (read.outcome == Outcome::invalid) read.seconds.reset();
  if (read.outcome == Outcome::ok && !read.seconds) read.outcome = Outcome::invalid;
  return read;
}

Json measurements_of(const RecordedResult& result) {
  Json all = Json::array();
  if (result.seconds) {
    all.push_back({{"name", kTime}, {"value", *result.seconds * 1e3}, {"unit", "ms"}});
  }
  if (result.outcome == Outcome::pruned) {
    all.push_back({{"name", kLowerBound}, {"value", 1}, {"unit", ""}});
  }
  return all;
}

Json result_of(const std::vector<Parameter>& parameters, const RecordedResult& result) {
  const bool never_ran = result.outcome == Outcome::pruned && !result.seconds;
  const std::string_view word = word_of(never_ran ? Outcome::invalid : result.outcome, &Words::t4);
  Json runs = Json::array();
  if (result.seconds) runs.push_back(*result.seconds * 1e3);
  return {{"timestamp", result.timestamp},
          {"configuration", configuration_of(parameters, result)},
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
          {"objectives", Json::array({kTime})}};
}

}  // namespace

RecordedResults read_t4_results(const CheckedJson& document) {
  RecordedResults results;
  results.format = RecordedResults::Format::t4;
  const double unit = time_unit_of(document);
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
  for (const CheckedJson& result : document["results"].items()) {
    if (names.empty()) {
      for (const auto& [name, value] : result["configuration"].members()) names.push_back(name);
    }
    results.results.push_back(result_of(result, names, unit));
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
