// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores compile with NVRTC where they pad, transpose and cut edges. The host
// device runs them with another compiler, which knows more.
#include <gtest/gtest.h>

#include "tests/support/source_folder.hpp"
#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

DeviceInfo hopper() {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::model;
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  gpu.shared_bytes_per_block = 227 << 10;
  gpu.shared_bytes_per_multiprocessor = 228 << 10;
  gpu.memory_bytes = std::int64_t{1} << 30;
  return gpu;
}

Target shipped(const std::string& name) {
  return load_manifest(source_folder() / "kernel_sources" / name / (name + ".target.toml"));
}

/// Compiles the configuration in the middle of those that have the fixed values.
void expect_to_compile(const Target& target, const NamedValues& fixed) {
  const ScratchFolder folder;
  const CubinCompiler compiler(90, std::make_shared<BuildCache>(folder.path() / "cache"));
  const Problem odd = problem_of(target, {{"M", 517}, {"N", 389}, {"K", 1031}}, {});
  const ParameterSpace space = space_of(with_fixed(target, fixed), odd, hopper());
  ASSERT_FALSE(space.empty());
  const CompiledKernel compiled =
      compiler.compile(source_unit(target, odd, space.at(space.size() / 2), hopper()));
  EXPECT_EQ(compiled.outcome, Outcome::ok) << compiled.log;
}

class TensorCoreKernels : public testing::TestWithParam<std::string> {};

TEST_P(TensorCoreKernels, CompileForAHopper) {
  for (const char* kernel : {"mma", "wgmma"})
    expect_to_compile(shipped(GetParam()), {{"KERNEL", std::string(kernel)}});
}

TEST(ClustersThatShareCopies, CompileForAHopper) {
  for (const int blocks : {2, 4})
    expect_to_compile(shipped("gemm16"),
                      {{"KERNEL", std::string("wgmma")}, {"CLUSTER", std::int64_t{blocks}}});
}

INSTANTIATE_TEST_SUITE_P(Targets, TensorCoreKernels,
                         testing::Values("gemm16", "gemm_i8", "gemm_tf32"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace autotune
