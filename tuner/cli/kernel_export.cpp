// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/db_export.hpp"

#include <algorithm>
#include <variant>

#include "tuner/cache/flat_source.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

std::string summary_of(const KernelExport& exported) {
  const db::BestRow& best = exported.entry.best;
  std::string text = format("// {} {}\n// on {}:\n//   {}\n", exported.entry.kernel.target,
                            best.key.problem, exported.entry.device.name, best.configuration);
  if (best.median_ns) {
    text += format("// {} a call, {} ({})\n", time_text(*best.median_ns * 1e-9), best.provenance,
                   best.key.policy);
  }
  if (best.baseline.wins) {
    text += format("// {} was faster: {}\n", best.baseline.text(),
                   time_text(best.baseline.ns.value_or(0) * 1e-9));
  }
  return text;
}

bool is_input(const BufferSpec& buffer) { return buffer.role == Role::input; }

std::string pointer_type(const BufferSpec& buffer) {
  const std::string type(buffer.members.empty() ? cpp_name_of(buffer.type) : "void");
  return (is_input(buffer) ? "const " : "") + type + "*";
}

/// A comment that describes each pointer of launch().
std::string contract_of(const KernelExport& exported) {
  std::string text = "/// Enqueues one call on the stream. Pointers are device memory:\n";
  for (const BufferSpec& each : exported.buffers) {
    text += format("///   {}: {} elements of type {}{}\n", each.name, each.length, type_text(each),
                   is_input(each) ? "" : ", written");
  }
  return text +
         "///   workspace: kWorkspaceBytes, set by prepare(); calls that may run at the same time\n"
         "///   need one each\n";
}

/// `void* memory[] = {A, B, workspace + 0}` of the function with parameters_of().
std::string memory_text(const KernelExport& exported) {
  std::vector<std::string> all;
  for (const BufferSpec& each : exported.buffers) {
    all.push_back(format("const_cast<void*>(static_cast<const void*>({}))", each.name));
  }
  const std::vector<std::int64_t> offsets = workspace_offsets(exported.plan);
  for (std::size_t i = 0; i < exported.plan.workspace.size(); ++i) {
    all.push_back(format("static_cast<char*>(workspace) + {}", offsets[i]));
  }
  return format("  void* memory[] = {{{}}};\n", joined(all, ",\n                    "));
}

std::string function_text(const KernelExport& exported, const std::string& name,
                          const std::vector<Launch>& launches, const std::string& source) {
  PlanCode code{exported.buffers, exported.plan, launches, {}, false, source};
  for (const Scalar& scalar : exported.scalars) code.variables.push_back(scalar.name);
  return format("cudaError_t {}({}) {{\n", name, parameters_of(exported)) +
         (exported.plan.workspace.empty() ? "  (void)workspace;\n" : "") + memory_text(exported) +
         statements(code) + "}\n";
}

std::string prepare_text(const KernelExport& exported) {
  std::string text =
      "cudaError_t prepare(void* workspace, cudaStream_t stream) {\n"
      "  cudaError_t status = cudaSuccess;\n";
  const std::vector<std::int64_t> offsets = workspace_offsets(exported.plan);
  for (std::size_t i = 0; i < exported.plan.workspace.size(); ++i) {
    const BufferSpec& each = exported.plan.workspace[i];
    text += format(
        "  if (status == cudaSuccess) {{\n"
        "    status = cudaMemsetAsync(static_cast<char*>(workspace) + {}, {}, {}, stream);  // {}\n"
        "  }}\n",
        offsets[i], static_cast<unsigned>(workspace_byte(each)), each.bytes(), each.name);
  }
  if (exported.plan.workspace.empty()) text += "  (void)workspace, (void)stream;\n";
  return text + "  return status;\n}\n";
}

/// sm_90a: wgmma is not in sm_90.
std::string architecture_of(const KernelExport& exported) {
  const auto capability = exported.entry.device.compute_capability;
  return format("{}{}", capability, capability == 90 ? "a" : "");
}

/// The includes that the parameters' types need.
std::string includes_of(const KernelExport& exported) {
  const auto uses = [&](ElementType type) {
    const auto has_type = [&](const auto& each) { return each.type == type; };
    return std::ranges::any_of(exported.buffers, has_type) ||
           std::ranges::any_of(exported.scalars, has_type);
  };
  std::string text = "#include <cuda.h>\n";
  if (uses(ElementType::bf16)) text += "#include <cuda_bf16.h>\n";
  if (uses(ElementType::e4m3) || uses(ElementType::e5m2)) text += "#include <cuda_fp8.h>\n";
  if (uses(ElementType::f16)) text += "#include <cuda_fp16.h>\n";
  return text + "#include <cuda_runtime.h>\n\n#include <cstddef>\n#include <cstring>\n\n";
}

}  // namespace

KernelExport kernel_export(const db::TunedEntry& entry, const Target& target) {
  const DeviceInfo info = device_of(entry.device);
  const Problem problem{parse_named_values(entry.best.key.problem)};
  const TargetProgram program(target, problem, info);
  const Levels levels = program.levels(parse_named_values(entry.best.configuration));
  KernelExport exported{.entry = entry,
                        .name = identifier_of(target.name),
                        .workload = prepared_workload_of(target, problem, info),
                        .plan = program.plan(levels),
                        .buffers = program.buffers(),
                        .scalars = program.scalars(),
                        .unit = program.source_unit(levels)};
  const std::vector<Launch> checks = exported.plan.checks;
  pass_unchecked(exported.plan, exported.buffers);
  exported.plan.checks = checks;
  return exported;
}

UnitCode code_of(const SourceUnit& unit) {
  const std::string flat = flat_source(unit.text, unit.prelude, unit.include_folders);
  const std::string defines = used_defines(unit.prelude, flat);
  UnitCode code{defines + "\n" + flat, ""};
  for (const std::string_view line : split(defines, '\n')) {
    if (line.empty()) continue;
    const std::string_view rest = line.substr(8);  // behind "#define "
    code.undefines += format("#undef {}\n", rest.substr(0, rest.find_first_of(" (")));
  }
  return code;
}

std::string parameters_of(const KernelExport& exported) {
  std::vector<std::string> all;
  for (const BufferSpec& each : exported.buffers) {
    all.push_back(format("{} {}", pointer_type(each), each.name));
  }
  for (const Scalar& each : exported.scalars) {
    all.push_back(format("{} {}", cpp_name_of(each.type), variable_name(each.name)));
  }
  all.emplace_back("void* workspace");
  all.emplace_back("cudaStream_t stream");
  return joined(all, ", ");
}

std::string build_line(const KernelExport& exported) {
  std::string options;
  for (const std::string& option : exported.unit.options) options += " " + option;
  return format(
      "nvcc -std=c++17 -O3 -gencode arch=compute_{0},code=sm_{0} --expt-relaxed-constexpr "
      "-diag-suppress 177{1} -o {2}_test "
      "{2}_test.cu {2}.cu",
      architecture_of(exported), options, exported.name);
}

std::string program_script(const KernelExport& exported) {
  std::string summary = summary_of(exported);
  replace_all(summary, "//", "#");
  const Command& build = *exported.unit.build;
  std::string text = "#!/bin/sh\n" + summary +
                     format("# Written by `autotune db export --format source`. Runs as:\n#   {}\n",
                            shell_text(*exported.plan.launches.front().command));
  if (build.words.empty()) return text;
  text += format(
      "# Builds the program at the path that is given, or here.\nset -e\n"
      "program=$(realpath -m \"${{1:-{}}}\")\ncd {}\nexec",
      exported.name, shell_text({{build.folder.string()}}));
  for (const std::string& each : build.words) {
    std::string word = shell_text({{each}});
    replace_all(word, "{program}", word.starts_with("'") ? "'\"$program\"'" : "\"$program\"");
    text += " " + word;
  }
  return text + "\n";
}

std::string kernel_file(const KernelExport& exported) {
  const UnitCode code = code_of(exported.unit);
  std::string text =
      summary_of(exported) +
      format(
          "// Written by `autotune db export --format source`. Needs CUDA 12.8 or later and no "
          "other "
          "file.\n// {}.h declares the functions for programs. This builds the test:\n//   {}\n",
          exported.name, build_line(exported)) +
      includes_of(exported) + code.text + "\n" + code.undefines +
      format("\nnamespace tuned_{} {{\nnamespace {{\n\n", exported.name) +
      launch_functions(exported.plan) + "}  // namespace\n\n" + prepare_text(exported) + "\n" +
      function_text(exported, "launch", exported.plan.launches, code.text);
  if (!exported.plan.checks.empty()) {
    text += "\n" + function_text(exported, "check", exported.plan.checks, code.text);
  }
  return text + format("\n}}  // namespace tuned_{}\n", exported.name);
}

std::string header_file(const KernelExport& exported) {
  std::string text = summary_of(exported) + "#pragma once\n\n" + includes_of(exported) +
                     format("namespace tuned_{} {{\n\n", exported.name) +
                     format("constexpr std::size_t kWorkspaceBytes = {};\n\n",
                            workspace_offsets(exported.plan).back()) +
                     "/// Sets the workspace, once before the first call.\n"
                     "cudaError_t prepare(void* workspace, cudaStream_t stream);\n\n" +
                     contract_of(exported) +
                     format("cudaError_t launch({});\n", parameters_of(exported));
  if (!exported.plan.checks.empty()) {
    text += format(
        "\n/// Reduces the outputs of launch() to outputs that can be compared.\n"
        "cudaError_t check({});\n",
        parameters_of(exported));
  }
  return text + format("\n}}  // namespace tuned_{}\n", exported.name);
}

namespace {

constexpr std::int64_t kAlignment = 1024;

std::string dim3_text(const Dim3& size) {
  return format("dim3({}, {}, {})", size.x, size.y, size.z);
}

ElementType type_of(const PlanCode& code, std::uint32_t buffer) {
  const std::size_t own = code.buffers.size();
  return buffer < own ? code.buffers[buffer].type : code.plan.workspace[buffer - own].type;
}

std::string map_text(const PlanCode& code, const TensorMap& map, const std::string& name) {
  std::vector<std::int64_t> strides = map.strides;
  strides.push_back(0);  // never read
  return format(
      "    CUtensorMap {0};\n"
      "    const cuuint64_t {0}_dims[] = {{{1}}}, {0}_strides[] = {{{2}}};\n"
      "    const cuuint32_t {0}_box[] = {{{3}}};\n"
      "    if (const cudaError_t status =\n"
      "            encode(&{0}, memory[{4}], {5}, {6}, {0}_dims, "
      "{0}_strides,\n"
      "                   {0}_box, {7})) {{\n"
      "      return status;\n    }}\n",
      name, joined(map.dims, ", "), joined(strides, ", "), joined(map.box, ", "), map.buffer,
      cuda_type_of(map, type_of(code, map.buffer)), map.dims.size(), cuda_swizzle_of(map));
}

std::string scalar_text(const PlanCode& code, const Scalar& scalar, const std::string& name) {
  std::string value = value_text(scalar);
  if (code.has_absolute && is_floating(scalar.type) && scalar.real < 0) {
    Scalar absolute = scalar;
    absolute.real = -scalar.real;
    value = format("absolute ? {} : {}", value_text(absolute), value);
  }
  return format("    {} {} = {};\n", cpp_name_of(scalar.type), name, value);
}

bool is_variable(const PlanCode& code, const Scalar& scalar) {
  return std::ranges::find(code.variables, scalar.name) != code.variables.end();
}

/// A struct as bytes: its type is known to the source only.
std::string record_text(const PlanCode& code, const Record& record, const std::string& name) {
  std::string text = format("    alignas(16) unsigned char {}[{}] = {{}};\n", name, record.bytes);
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    const Scalar& scalar = record.fields[i].value;
    std::string field = variable_name(scalar.name);
    if (!is_variable(code, scalar)) {
      field = format("{}_{}", name, i);
      text += scalar_text(code, scalar, field);
    }
    text += format("    std::memcpy({} + {}, &{}, sizeof {});\n", name, record.fields[i].offset,
                   field, field);
  }
  return text;
}

/// Appends declarations for the arguments to `text` and returns the addresses.
std::string addresses(const PlanCode& code, const Launch& launch, std::string& text) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::string name = format("argument_{}", i);
    const Argument& argument = launch.arguments[i];
    if (const auto* buffer = std::get_if<BufferRef>(&argument)) {
      all.push_back(format("&memory[{}]", buffer->index));
      continue;
    }
    if (std::holds_alternative<Texture>(argument)) {
      throw Error(format("{} takes a texture, which an exported source has not: use libautotune",
                         launch.entry));
    }
    if (const auto* map = std::get_if<TensorMap>(&argument)) {
      text += map_text(code, *map, name);
      all.push_back("&" + name);
      continue;
    }
    if (const auto* record = std::get_if<Record>(&argument)) {
      text += record_text(code, *record, name);
      all.push_back(name);
      continue;
    }
    const Scalar& scalar = std::get<Scalar>(argument);
    if (!is_variable(code, scalar)) text += scalar_text(code, scalar, name);
    all.push_back("&" + (is_variable(code, scalar) ? scalar.name : name));
  }
  return joined(all, ", ");
}

std::string launch_text(const PlanCode& code, const Launch& launch, bool is_first) {
  std::string text = "  {\n";
  const std::string arguments = addresses(code, launch, text);
  return text + format(
                    "    void* arguments[] = {{{}}};\n"
                    "    const cudaError_t status =\n"
                    "        start(reinterpret_cast<const void*>(&{}), {},\n"
                    "              {}, {}, {}, {}, {}, arguments, stream);\n"
                    "    if (status != cudaSuccess) return status;\n  }}\n",
                    arguments, launch.entry, dim3_text(launch.grid), dim3_text(launch.block),
                    dim3_text(launch.cluster), launch.dynamic_shared_bytes,
                    launch.starts_early && !is_first ? "true" : "false",
                    launch.cooperative ? "true" : "false");
}

/// Whether the source has such a `__constant__` variable.
bool declares(const std::string& source, const std::string& symbol) {
  return std::ranges::any_of(split(source, '\n'), [&](std::string_view line) {
    return has_word(line, "__constant__") && has_word(line, symbol);
  });
}

std::string constant_text(const PlanCode& code, const ConstantCopy& copy) {
  if (copy.optional && !declares(code.source, copy.symbol)) return "";
  return format(
      "  if (const cudaError_t status =\n"
      "          cudaMemcpyToSymbolAsync(::{}, memory[{}], {}, 0, cudaMemcpyDeviceToDevice, "
      "stream)) {{\n"
      "    return status;\n  }}\n",
      copy.symbol, copy.buffer, code.buffers[copy.buffer].bytes());
}

bool has_map(const Launch& launch) {
  return std::ranges::any_of(launch.arguments, [](const Argument& argument) {
    return std::holds_alternative<TensorMap>(argument);
  });
}

}  // namespace

std::string statements(const PlanCode& code) {
  std::string text;
  for (const ConstantCopy& copy : code.plan.constants) text += constant_text(code, copy);
  for (const Launch& launch : code.launches) {
    text += launch_text(code, launch, &launch == &code.launches.front());
  }
  return text + "  return cudaSuccess;\n";
}

std::string launch_functions(const LaunchPlan& plan) {
  const bool maps =
      std::ranges::any_of(plan.launches, has_map) || std::ranges::any_of(plan.checks, has_map);
  std::string text(launching_text());
  if (maps) text += tensor_map_text();
  return text;
}

std::string variable_name(const std::string& scalar) {
  std::string name;
  for (const char c : scalar) {
    if (c != ']') name += is_in_identifier(c) ? c : '_';
  }
  return name;
}

std::string value_text(const Scalar& scalar) {
  switch (scalar.type) {
    case ElementType::f32:
    case ElementType::f64:
      return format("{:.17g}", scalar.real);
    case ElementType::f16:
      return format("__float2half({:.17g})", scalar.real);
    case ElementType::bf16:
      return format("__float2bfloat16({:.17g})", scalar.real);
    case ElementType::e4m3:
    case ElementType::e5m2:
      return format("{}({:.17g})", cpp_name_of(scalar.type), scalar.real);
    default:
      return format("{}{}", scalar.integer, scalar.type == ElementType::i64 ? "LL" : "");
  }
}

std::vector<std::int64_t> workspace_offsets(const LaunchPlan& plan) {
  std::vector<std::int64_t> offsets{0};
  for (const BufferSpec& each : plan.workspace) {
    const std::int64_t bytes = (each.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    offsets.push_back(offsets.back() + bytes);
  }
  return offsets;
}

}  // namespace autotune::cli
