// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_wire.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"
#include "tuner/worker/wire_codec.hpp"

namespace autotune {
namespace {

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

WIRE_MEMBERS(PluginDescription::Strategy, name, description)
WIRE_MEMBERS(PluginDescription::Target, manifest, folder, has_hooks)
WIRE_MEMBERS(PluginDescription, file, name, version, description, strategies, targets, is_baseline,
             counts)
WIRE_MEMBERS(SearchTask::Parameter, name, values)
WIRE_MEMBERS(CompiledResources, registers, shared_bytes, local_bytes, occupancy)
WIRE_MEMBERS(Evaluation, index, outcome, seconds, reason, resources, compile_seconds)

/// Without the levels and predictions, which follow as raw bytes.
WIRE_MEMBERS(SearchTask, parameters, configurations, known, seed, budget, batch)

Json wire_of(const PluginDescription& description) { return to_wire(description); }
PluginDescription plugin_description_of(const Json& json) {
  return from_wire<PluginDescription>(json);
}

Json wire_of(const std::vector<Evaluation>& evaluations) { return to_wire(evaluations); }
std::vector<Evaluation> evaluations_of(const Json& json) {
  return from_wire<std::vector<Evaluation>>(json);
}

Json wire_of(const SearchTask& task) {
  Json json = to_wire(task);
  json["levels"] = task.levels.size();
  json["predicted"] = task.predicted.size();
  return json;
}

std::string bytes_of(const SearchTask& task) {
  std::string bytes;
  append(bytes, task.levels);
  append(bytes, task.predicted);
  return bytes;
}

SearchTask search_task_of(const Json& json, const std::string& bytes) {
  auto task = from_wire<SearchTask>(json);
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
  return task;
}

std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size) {
  if (!said.contains("ask")) return std::nullopt;
  const Json& ask = said.at("ask");
  if (!ask.is_array()) refuse_value(ask, "a list");
  std::vector<std::size_t> indices;
  for (const Json& asked : ask) {
    if (!asked.is_number_unsigned())
      throw WireError("it requested a configuration whose index is not a number");
    indices.push_back(asked.get<std::size_t>());
    if (indices.back() < size) continue;
    throw WireError(format("it requested configuration {} of {}", indices.back(), size));
  }
  return indices;
}

}  // namespace autotune
