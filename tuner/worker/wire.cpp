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
  const int value = json.get<int>();
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
  const auto texts = json.get<std::vector<std::string>>();
  return {texts.begin(), texts.end()};
}

Json wire_of(const Dim3& size) { return {size.x, size.y, size.z}; }
Dim3 dim3_of(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

Json wire_of(const BufferSpec& buffer) {
  return {buffer.name,         number(buffer.type), buffer.length,       number(buffer.role),
          number(buffer.fill), buffer.tolerance,    buffer.file.string()};
}

BufferSpec buffer_of(const Json& json) {
  return {json.at(0),
          element_type_of(json.at(1)),
          json.at(2),
          enum_of(json.at(3), Role::workspace),
          enum_of(json.at(4), Fill::one),
          json.at(5),
          json.at(6).get<std::string>()};
}

Json wire_of(const Scalar& scalar) {
  return {number(scalar.type), scalar.integer, scalar.real, scalar.name};
}

Scalar scalar_of(const Json& json) {
  return {element_type_of(json.at(0)), json.at(1), json.at(2), json.at(3)};
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
  if (json.contains("buffer")) return BufferRef{json["buffer"]};
  if (json.contains("scalar")) return scalar_of(json["scalar"]);
  const Json& map = json.at("map");
  return TensorMap{map.at(0), map.at(1), map.at(2), map.at(3), map.at(4)};
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
  KernelResources resources{json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
  if (!json.at(5).is_null()) resources.parameter_bytes = json.at(5).get<std::vector<int>>();
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
  unit.name = json.at("name");
  unit.prelude = json.at("prelude");
  unit.text = json.at("text");
  unit.include_folders = paths_of(json.at("include_folders"));
  unit.options = json.at("options").get<std::vector<std::string>>();
  unit.entries = json.at("entries").get<std::vector<std::string>>();
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
  return {json.at("entry"),
          dim3_of(json.at("grid")),
          dim3_of(json.at("block")),
          dim3_of(json.at("cluster")),
          json.at("dynamic_shared_bytes"),
          vector_of<Argument>(json.at("arguments"), argument_of),
          json.at("starts_early")};
}

Json wire_of(const ConstantCopy& copy) { return {copy.buffer, copy.symbol, copy.optional}; }
ConstantCopy constant_copy_of(const Json& json) { return {json.at(0), json.at(1), json.at(2)}; }

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
  workload.problem = json.at("problem");
  workload.buffers = vector_of<BufferSpec>(json.at("buffers"), buffer_of);
  workload.scalars = vector_of<Scalar>(json.at("scalars"), scalar_of);
  workload.reference_source = source_unit_of(json.at("reference_source"));
  workload.reference = launch_plan_of(json.at("reference"));
  workload.expected_file = json.at("expected_file").get<std::string>();
  workload.float64_outputs = json.at("float64_outputs");
  workload.seed = json.at("seed");
  workload.form = enum_of(json.at("form"), LaunchForm::stream);
  return workload;
}

Json wire_of(const CompiledKernel& kernel) {
  return {{"key", kernel.key}, {"resources", array_of(kernel.resources)}};
}

CompiledKernel compiled_kernel_of(const Json& json, std::string binary) {
  CompiledKernel kernel;
  kernel.key = json.at("key");
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
  return {outcome_of(json.at(0)), json.at(1), json.at(2), json.at(3)};
}

Json wire_of(const TimedBatch& batch) {
  return {{"seconds", batch.seconds}, {"clock_hz", batch.clock_hz}, {"l2", number(batch.l2)}};
}

TimedBatch timed_batch_of(const Json& json) {
  const TimedBatch batch{json.at("seconds"), json.at("clock_hz"),
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
  return {json.at("program"), json.at("name"), std::move(source),
          json.at("options").get<std::vector<std::string>>()};
}

Json wire_of(const Build& build) {
  return {{"compiled", build.binary != nullptr},
          {"log", build.log},
          {"keep", build.keep},
          {"read", build.read ? Json(texts_of(*build.read)) : Json()}};
}

Build build_of(const Json& json, std::string binary) {
  Build build;
  if (json.at("compiled")) build.binary = std::make_shared<const std::string>(std::move(binary));
  build.log = json.at("log");
  build.keep = json.at("keep");
  if (!json.at("read").is_null()) build.read = paths_of(json.at("read"));
  return build;
}

}  // namespace autotune
