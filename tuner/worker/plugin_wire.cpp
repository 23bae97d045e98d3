// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_wire.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {
namespace {

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

Json wire_of(const PluginDescription& description) {
  Json strategies = Json::array(), targets = Json::array();
  for (const auto& strategy : description.strategies) {
    strategies.push_back({strategy.name, strategy.description});
  }
  for (const auto& target : description.targets) {
    targets.push_back({target.manifest, target.folder.string(), target.has_hooks});
  }
  return {{"file", description.file.string()},
          {"name", description.name},
          {"version", description.version},
          {"description", description.description},
          {"strategies", strategies},
          {"targets", targets},
          {"is_baseline", description.is_baseline}};
}

PluginDescription plugin_description_of(const Json& json) {
  PluginDescription description;
  description.file = std::string(field(json, "file"));
  description.name = field(json, "name");
  description.version = field(json, "version");
  description.description = field(json, "description");
  for (const Json& one : json.at("strategies")) {
    description.strategies.push_back({field(one, 0), field(one, 1)});
  }
  for (const Json& one : json.at("targets")) {
    description.targets.push_back({field(one, 0), std::string(field(one, 1)), field(one, 2)});
  }
  description.is_baseline = field(json, "is_baseline");
  return description;
}

Json wire_of(const SearchTask& task) {
  Json parameters = Json::array();
  for (const auto& parameter : task.parameters) {
    parameters.push_back({{"name", parameter.name}, {"values", parameter.values}});
  }
  return {{"parameters", parameters},     {"configurations", task.configurations},
          {"levels", task.levels.size()}, {"predicted", task.predicted.size()},
          {"known", wire_of(task.known)}, {"seed", task.seed},
          {"budget", task.budget},        {"batch", task.batch}};
}

std::string bytes_of(const SearchTask& task) {
  std::string bytes;
  append(bytes, task.levels);
  append(bytes, task.predicted);
  return bytes;
}

SearchTask search_task_of(const Json& json, const std::string& bytes) {
  SearchTask task;
  for (const Json& one : json.at("parameters")) {
    task.parameters.push_back({field(one, "name"), field(one, "values")});
  }
  task.configurations = field(json, "configurations");
  const std::size_t levels = field(json, "levels"), predicted = field(json, "predicted");
  const std::size_t split = levels * sizeof task.levels[0];
  const bool whole = std::max(levels, predicted) <= bytes.size() &&
                     bytes.size() == split + predicted * sizeof task.predicted[0];
  if (!whole) throw WireError("a search task is not followed by its levels and times");
  task.levels.resize(levels);
  task.predicted.resize(predicted);
  std::copy_n(bytes.data(), split, reinterpret_cast<char*>(task.levels.data()));
  std::copy_n(bytes.data() + split, bytes.size() - split,
              reinterpret_cast<char*>(task.predicted.data()));
  task.known = evaluations_of(json.at("known"));
  task.seed = field(json, "seed");
  task.budget = field(json, "budget");
  task.batch = field(json, "batch");
  return task;
}

Json wire_of(const std::vector<Evaluation>& evaluations) {
  Json json = Json::array();
  for (const Evaluation& one : evaluations) {
    json.push_back({one.index, static_cast<int>(one.outcome),
                    one.seconds ? Json(*one.seconds) : Json(nullptr)});
  }
  return json;
}

std::vector<Evaluation> evaluations_of(const Json& json) {
  std::vector<Evaluation> evaluations;
  for (const Json& one : json) {
    Evaluation evaluation{field(one, 0), outcome_of(one.at(1)), std::nullopt};
    if (!one.at(2).is_null()) evaluation.seconds = double(field(one, 2));
    evaluations.push_back(evaluation);
  }
  return evaluations;
}

std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size) {
  if (!said.contains("ask")) return std::nullopt;
  std::vector<std::size_t> indices;
  for (const Json& asked : said.at("ask")) {
    if (!asked.is_number_unsigned()) throw WireError("it asked for what is no number");
    indices.push_back(asked.get<std::size_t>());
    if (indices.back() < size) continue;
    throw WireError(format("it asked for configuration {} of {}", indices.back(), size));
  }
  return indices;
}

}  // namespace autotune
