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

WIRE_MEMBERS(Dim3, x, y, z)
WIRE_MEMBERS(Member, name, type, offset, alignment)
WIRE_MEMBERS(BufferSpec, name, type, length, role, fill, tolerance, file, file_offset, fill_values,
             seed, absolute, repeatable, streams, members, alignment, dims, strides, shift)
WIRE_MEMBERS(Scalar, type, integer, real, name)
WIRE_MEMBERS(Record::Field, value, offset)
WIRE_MEMBERS(Record, name, fields, bytes)
WIRE_MEMBERS(BufferRef, index)
WIRE_MEMBERS(TensorMap, buffer, dims, strides, box, swizzle_bytes, tf32)
WIRE_MEMBERS(Texture, buffer, dims, channels, filter, address, normalized)
WIRE_MEMBERS(ConstantGrid, buffer, grid)
WIRE_MEMBERS(Command, words, folder, time, limit_seconds)
WIRE_MEMBERS(Launch, entry, grid, block, cluster, dynamic_shared_bytes, arguments, starts_early,
             with_constant, cooperative, command)
WIRE_MEMBERS(ConstantCopy, buffer, symbol, optional)
WIRE_MEMBERS(LaunchPlan, workspace, launches, constants, checks)
WIRE_MEMBERS(SourceUnit, name, prelude, text, include_folders, options, entries, data_files,
             cooperative, build)
WIRE_MEMBERS(Workload, problem, buffers, scalars, reference_source, preparation, reference,
             expected_file, float64_outputs, seed, form, runs_commands)
WIRE_MEMBERS(KernelResources, entry, registers, shared_bytes, local_bytes, max_threads,
             parameter_bytes, parameter_types)
WIRE_MEMBERS(CompiledKernel, key, resources)
WIRE_MEMBERS(Verdict, outcome, message, worst_error, seconds, repeats, unwritten, is_undefined)
WIRE_MEMBERS(UnseenCalls, unseen, again)
WIRE_MEMBERS(TimedBatch, seconds, clock_hz, l2, overhead)
WIRE_MEMBERS(RowBits, first, different)
WIRE_MEMBERS(Energy, joules, watts, seconds, resolution)
WIRE_MEMBERS(Counter, name, unit, value)
WIRE_MEMBERS(CompileTask, program, name, options, kernels, cooperative, folder)
WIRE_MEMBERS(Build, log, keep, read)

Json wire_of(const SourceUnit& unit) { return to_wire(unit); }

Json wire_of(const Launch& launch) { return to_wire(launch); }
Launch launch_of(const Json& json) { return from_wire<Launch>(json); }

Json wire_of(const LaunchPlan& plan) { return to_wire(plan); }
LaunchPlan launch_plan_of(const Json& json) { return from_wire<LaunchPlan>(json); }

Json wire_of(const Workload& workload) { return to_wire(workload); }
Workload workload_of(const Json& json) { return from_wire<Workload>(json); }

Json wire_of(const CompiledKernel& kernel) { return to_wire(kernel); }

CompiledKernel compiled_kernel_of(const Json& json, std::string binary) {
  auto kernel = from_wire<CompiledKernel>(json);
  kernel.binary = std::make_shared<const std::string>(std::move(binary));
  kernel.cached = true;
  return kernel;
}

Outcome outcome_of(const Json& json) { return from_wire<Outcome>(json); }

Json wire_of(const Verdict& verdict) { return to_wire(verdict); }
Verdict verdict_of(const Json& json) { return from_wire<Verdict>(json); }

Json wire_of(const UnseenCalls& calls) { return to_wire(calls); }
UnseenCalls unseen_calls_of(const Json& json) { return from_wire<UnseenCalls>(json); }
Json wire_of(const RowBits& bits) { return to_wire(bits); }
RowBits row_bits_of(const Json& json) { return from_wire<RowBits>(json); }

Json wire_of(const TimedBatch& batch) { return to_wire(batch); }

TimedBatch timed_batch_of(const Json& json) {
  const auto batch = from_wire<TimedBatch>(json);
  const bool is_time = std::isfinite(batch.seconds) && batch.seconds >= 0;
  if (!is_time) throw WireError(format("{} s is not a time", batch.seconds));
  return batch;
}

Json wire_of(const Energy& energy) { return to_wire(energy); }

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
    throw KernelFailure(outcome_of(*failure), answer.at("what").get<std::string>());
  }
}

Json wire_of(const CompileTask& task) { return to_wire(task); }

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

WIRE_MEMBERS(PluginDescription::Strategy, name, description)
WIRE_MEMBERS(PluginDescription::Target, manifest, folder, has_hooks)
WIRE_MEMBERS(PluginDescription, file, name, version, description, strategies, targets, is_baseline,
             is_host_baseline, counts)
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
