// SPDX-License-Identifier: Apache-2.0
// A tuned answer as CUDA sources that do not depend on autotune: db export --format source.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/target.hpp"

namespace autotune::cli {

/// An answer with everything that its sources need.
struct KernelExport {
  db::TunedEntry entry;
  std::string name;   // of files and of the namespace: `gemm`
  Workload workload;  // with the reference
  LaunchPlan plan;    // of the configuration; its checks stay
  std::vector<BufferSpec> buffers;
  std::vector<Scalar> scalars;
  SourceUnit unit;
};
KernelExport kernel_export(const db::TunedEntry& entry, const Target& target);

/// NAME.sh, of a target that is a program: builds the configuration, and says how it is run.
std::string program_script(const KernelExport& exported);

/// NAME.cu: the kernels and the code that launches them.
std::string kernel_file(const KernelExport& exported);
/// NAME.h: the declarations for a program.
std::string header_file(const KernelExport& exported);
/// NAME_test.cu: compares a call with the target's reference, and times it. Empty if the reference
/// is not a kernel.
std::string test_file(const KernelExport& exported);
/// The command that builds the test of these files.
std::string build_line(const KernelExport& exported);

// Used by these only.

/// Includes, macros and text of a unit, then #undef for the macros.
struct UnitCode {
  std::string text, undefines;
};
UnitCode code_of(const SourceUnit& unit);
/// `float* A, …, void* workspace, cudaStream_t stream`.
std::string parameters_of(const KernelExport& exported);

// The launches of a plan as CUDA C++: for db export --format source.

/// A plan whose launches become statements. These use `void* memory[]` (buffers, then workspace),
/// `cudaStream_t stream`, a variable for each scalar in `variables`, and with `has_absolute` the
/// variable `absolute`: whether real scalars lose their sign. They return a cudaError_t on failure.
struct PlanCode {
  const std::vector<BufferSpec>& buffers;
  const LaunchPlan& plan;
  const std::vector<Launch>& launches;  // of the plan: its own, or its checks
  std::vector<std::string> variables = {};
  bool has_absolute = false;
  /// The source that may define the plan's optional `__constant__` variables.
  const std::string& source;
};

/// Throws Error if a kernel takes a texture.
std::string statements(const PlanCode& code);

/// Functions that the statements call: start(), and encode() if a kernel takes a tensor map.
std::string launch_functions(const LaunchPlan& plan);

/// The name of a scalar as C++: `shift_w_2` for the field `shift.w[2]`.
std::string variable_name(const std::string& scalar);

/// The value of a scalar as C++: `2.5`, `7LL`, `__float2half(2.5)`.
std::string value_text(const Scalar& scalar);

/// The offset of each workspace in one block of memory, then the size of the block.
std::vector<std::int64_t> workspace_offsets(const LaunchPlan& plan);

}  // namespace autotune::cli
