// SPDX-License-Identifier: Apache-2.0
// A tuned answer as CUDA sources that do not depend on autotune: db export --format source.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
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

/// Types and functions of every test: buffers, their contents, comparison.
extern const char* const kTestFunctions;

}  // namespace autotune::cli
