// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

template <class Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

/// One of those up to `last`.
template <class Enum>
Enum enum_of(const Json& json, Enum last) {
  const int value = WireValue(json);
  if (value < 0 || value > number(last)) throw WireError(format("{} numbers nothing", value));
  return static_cast<Enum>(value);
}

ElementType element_type_of(const Json& json) { return enum_of(json, ElementType::i64); }

template <class T, class Read>
std::vector<T> vector_of(const Json& json, Read read) {
  std::vector<T> values;
  for (const Json& element : json) values.push_back(read(element));
  return values;
}

std::vector<std::string> texts_of(const std::vector<std::filesystem::path>& paths) {
  return {paths.begin(), paths.end()};
}

std::vector<std::filesystem::path> paths_of(const Json& json) {
  const std::vector<std::string> texts = WireValue(json);
  return {texts.begin(), texts.end()};
}

Json wire_of(const Dim3& size) { return {size.x, size.y, size.z}; }
Dim3 dim3_of(const Json& json) { return {field(json, 0), field(json, 1), field(json, 2)}; }

Json wire_of(const BufferSpec& buffer) {
  return {buffer.name,         number(buffer.type), buffer.length,       number(buffer.role),
          number(buffer.fill), buffer.tolerance,    buffer.file.string()};
}

BufferSpec buffer_of(const Json& json) {
  return {field(json, 0),
          element_type_of(json.at(1)),
          field(json, 2),
          enum_of(json.at(3), Role::workspace),
          enum_of(json.at(4), Fill::one),
          field(json, 5),
          std::string(field(json, 6))};
}

Json wire_of(const Scalar& scalar) {
  return {number(scalar.type), scalar.integer, scalar.real, scalar.name};
}

Scalar scalar_of(const Json& json) {
  return {element_type_of(json.at(0)), field(json, 1), field(json, 2), field(json, 3)};
}

struct ArgumentWire {
  Json operator()(const BufferRef& reference) const { return {{"buffer", reference.index}}; }
  Json operator()(const Scalar& scalar) const { return {{"scalar", wire_of(scalar)}}; }
  Json operator()(const TensorMap& map) const {
    return {{"map", {map.buffer, map.dims, map.strides, map.box, map.swizzle_bytes}}};
  }
};

Json wire_of(const Argument& argument) { return std::visit(ArgumentWire{}, argument); }

Argument argument_of(const Json& json) {
  if (json.contains("buffer")) return BufferRef{field(json, "buffer")};
  if (json.contains("scalar")) return scalar_of(json["scalar"]);
  const Json& map = json.at("map");
  return TensorMap{field(map, 0), field(map, 1), field(map, 2), field(map, 3), field(map, 4)};
}

Json wire_of(const KernelResources& resources) {
  const auto& parameters = resources.parameter_bytes;
  return {resources.entry,       resources.registers,   resources.shared_bytes,
          resources.local_bytes, resources.max_threads, parameters ? Json(*parameters) : Json()};
}

template <class T>
Json array_of(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(wire_of(value));
  return json;
}

KernelResources kernel_resources_of(const Json& json) {
  KernelResources resources{field(json, 0), field(json, 1), field(json, 2), field(json, 3),
                            field(json, 4)};
  if (!json.at(5).is_null()) resources.parameter_bytes = std::vector<int>(field(json, 5));
  return resources;
}

}  // namespace

Json wire_of(const SourceUnit& unit) {
  return {{"name", unit.name},       {"prelude", unit.prelude},
          {"text", unit.text},       {"include_folders", texts_of(unit.include_folders)},
          {"options", unit.options}, {"entries", unit.entries}};
}

SourceUnit source_unit_of(const Json& json) {
  SourceUnit unit;
  unit.name = field(json, "name");
  unit.prelude = field(json, "prelude");
  unit.text = field(json, "text");
  unit.include_folders = paths_of(json.at("include_folders"));
  unit.options = field(json, "options");
  unit.entries = field(json, "entries");
  return unit;
}

Json wire_of(const Launch& launch) {
  return {{"entry", launch.entry},
          {"grid", wire_of(launch.grid)},
          {"block", wire_of(launch.block)},
          {"cluster", wire_of(launch.cluster)},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"arguments", array_of(launch.arguments)},
          {"starts_early", launch.starts_early}};
}

Launch launch_of(const Json& json) {
  return {field(json, "entry"),
          dim3_of(json.at("grid")),
          dim3_of(json.at("block")),
          dim3_of(json.at("cluster")),
          field(json, "dynamic_shared_bytes"),
          vector_of<Argument>(json.at("arguments"), argument_of),
          field(json, "starts_early")};
}

Json wire_of(const ConstantCopy& copy) { return {copy.buffer, copy.symbol, copy.optional}; }
ConstantCopy constant_copy_of(const Json& json) {
  return {field(json, 0), field(json, 1), field(json, 2)};
}

Json wire_of(const LaunchPlan& plan) {
  return {{"workspace", array_of(plan.workspace)},
          {"launches", array_of(plan.launches)},
          {"constants", array_of(plan.constants)}};
}

LaunchPlan launch_plan_of(const Json& json) {
  return {vector_of<BufferSpec>(json.at("workspace"), buffer_of),
          vector_of<Launch>(json.at("launches"), launch_of),
          vector_of<ConstantCopy>(json.at("constants"), constant_copy_of)};
}

Json wire_of(const Workload& workload) {
  return {{"problem", workload.problem},
          {"buffers", array_of(workload.buffers)},
          {"scalars", array_of(workload.scalars)},
          {"reference_source", wire_of(workload.reference_source)},
          {"reference", wire_of(workload.reference)},
          {"expected_file", workload.expected_file.string()},
          {"float64_outputs", workload.float64_outputs},
          {"seed", workload.seed},
          {"form", number(workload.form)}};
}

Workload workload_of(const Json& json) {
  Workload workload;
  workload.problem = field(json, "problem");
  workload.buffers = vector_of<BufferSpec>(json.at("buffers"), buffer_of);
  workload.scalars = vector_of<Scalar>(json.at("scalars"), scalar_of);
  workload.reference_source = source_unit_of(json.at("reference_source"));
  workload.reference = launch_plan_of(json.at("reference"));
  workload.expected_file = std::string(field(json, "expected_file"));
  workload.float64_outputs = field(json, "float64_outputs");
  workload.seed = field(json, "seed");
  workload.form = enum_of(json.at("form"), LaunchForm::stream);
  return workload;
}

Json wire_of(const CompiledKernel& kernel) {
  return {{"key", kernel.key}, {"resources", array_of(kernel.resources)}};
}

CompiledKernel compiled_kernel_of(const Json& json, std::string binary) {
  CompiledKernel kernel;
  kernel.key = field(json, "key");
  kernel.resources = vector_of<KernelResources>(json.at("resources"), kernel_resources_of);
  kernel.binary = std::make_shared<const std::string>(std::move(binary));
  kernel.cached = true;
  return kernel;
}

Outcome outcome_of(const Json& json) { return enum_of(json, Outcome::crash); }

Json wire_of(const Verdict& verdict) {
  return {number(verdict.outcome), verdict.message, verdict.worst_error, verdict.seconds};
}

Verdict verdict_of(const Json& json) {
  return {outcome_of(json.at(0)), field(json, 1), field(json, 2), field(json, 3)};
}

Json wire_of(const TimedBatch& batch) {
  return {{"seconds", batch.seconds}, {"clock_hz", batch.clock_hz}, {"l2", number(batch.l2)}};
}

TimedBatch timed_batch_of(const Json& json) {
  const TimedBatch batch{field(json, "seconds"), field(json, "clock_hz"),
                         enum_of(json.at("l2"), L2State::cold)};
  const bool is_time = std::isfinite(batch.seconds) && batch.seconds >= 0;
  if (!is_time) throw WireError(format("{} s is no time", batch.seconds));
  return batch;
}

Json wire_of(const KernelFailure& failure) {
  return {{"failure", number(failure.outcome())}, {"what", failure.what()}};
}

void throw_failure_in(const Json& answer) {
  if (const auto error = answer.find("error"); error != answer.end()) {
    throw Error(error->get<std::string>());
  }
  if (const auto failure = answer.find("failure"); failure != answer.end()) {
    throw KernelFailure(outcome_of(*failure), answer.at("what").get<std::string>());
  }
}

Json wire_of(const CompileTask& task) {
  return {{"program", task.program}, {"name", task.name}, {"options", task.options}};
}

CompileTask compile_task_of(const Json& json, std::string source) {
  return {field(json, "program"), field(json, "name"), std::move(source), field(json, "options")};
}

Json wire_of(const Build& build) {
  return {{"compiled", build.binary != nullptr},
          {"log", build.log},
          {"keep", build.keep},
          {"read", build.read ? Json(texts_of(*build.read)) : Json()}};
}

Build build_of(const Json& json, std::string binary) {
  Build build;
  const bool compiled = field(json, "compiled");
  if (compiled) build.binary = std::make_shared<const std::string>(std::move(binary));
  build.log = field(json, "log");
  build.keep = field(json, "keep");
  if (!json.at("read").is_null()) build.read = paths_of(json.at("read"));
  return build;
}

}  // namespace autotune
