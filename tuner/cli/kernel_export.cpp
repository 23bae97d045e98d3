// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kernel_export.hpp"

#include <algorithm>

#include "tuner/cache/flat_source.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/plan_code.hpp"
#include "tuner/core/caller_buffers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
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

}  // namespace autotune::cli
