// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace autotune {

void refuse_value(const Json& value, const char* wanted) {
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  throw WireError(format("its process sent a malformed answer: {} is not {}", text, wanted));
}

CompiledKernel compiled_kernel_of(const Json& json, std::string binary) {
  auto kernel = from_wire<CompiledKernel>(json);
  kernel.binary = std::make_shared<const std::string>(std::move(binary));
  kernel.cached = true;
  return kernel;
}

TimedBatch timed_batch_of(const Json& json) {
  const auto batch = from_wire<TimedBatch>(json);
  const bool is_time = std::isfinite(batch.seconds) && batch.seconds >= 0;
  if (!is_time) throw WireError(format("{} s is not a time", batch.seconds));
  return batch;
}

Energy energy_of(const Json& json) {
  const auto energy = from_wire<Energy>(json);
  const bool is_energy = std::isfinite(energy.joules) && energy.joules >= 0;
  if (!is_energy) throw WireError(format("{} J is not an energy", energy.joules));
  return energy;
}

Json wire_of(const Counters& counters) { return {{"counters", to_wire(counters)}}; }

Counters counters_in(const Json& json) {
  auto counters = from_wire<Counters>(json.at("counters"));
  for (const Counter& one : counters) {
    if (!std::isfinite(one.value)) throw WireError(format("{} is {}", one.name, one.value));
  }
  return counters;
}

Json wire_of(const KernelFailure& failure) {
  return {{"failure", to_wire(failure.outcome())}, {"what", failure.what()}};
}

void throw_failure_in(const Json& answer) {
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw Error(error->get<std::string>());
  }
  if (const auto failure = answer.find("failure"); failure != answer.end()) {
    throw KernelFailure(from_wire<Outcome>(*failure), answer.at("what").get<std::string>());
  }
}

CompileTask compile_task_of(const Json& json, std::string source) {
  auto task = from_wire<CompileTask>(json);
  task.source = std::move(source);
  return task;
}

Json wire_of(const Build& build) {
  Json json = to_wire(build);
  json["compiled"] = build.binary != nullptr;
  return json;
}

Build build_of(const Json& json, std::string binary) {
  auto build = from_wire<Build>(json);
  const bool compiled = field(json, "compiled");
  if (compiled) build.binary = std::make_shared<const std::string>(std::move(binary));
  return build;
}

namespace {

template <class T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

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
