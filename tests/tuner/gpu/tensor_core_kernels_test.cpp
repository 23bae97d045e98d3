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

DeviceInfo gpu_of(int compute_capability, std::int64_t shared_bytes) {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::model;
  gpu.compute_capability = compute_capability;
  gpu.multiprocessors = 132;
  gpu.shared_bytes_per_block = shared_bytes;
  gpu.shared_bytes_per_multiprocessor = shared_bytes + 1024;
  gpu.memory_bytes = std::int64_t{1} << 30;
  return gpu;
}

Problem odd_problem(const Target& target) {
  NamedValues sizes{{"M", 517}, {"N", 389}, {"K", 1031}};
  if (target.sizes.size() > 3) sizes.push_back({"batch", 3});
  return problem_of(target, sizes, {});
}

/// Lines are multiples of 16 but not of 32 bytes.
Problem uneven_problem(const Target& target) {
  NamedValues sizes{{"M", 520}, {"N", 392}, {"K", 1032}};
  if (target.sizes.size() > 3) sizes.push_back({"batch", 3});
  return problem_of(target, sizes, {});
}

/// Compiles the configuration in the middle of those that have the fixed values.
void expect_to_compile(const std::string& name, const NamedValues& fixed,
                       const DeviceInfo& gpu = gpu_of(90, 227 << 10),
                       Problem (*problem_for)(const Target&) = odd_problem) {
  const ScratchFolder folder;
  const CubinCompiler compiler(gpu.compute_capability,
                               std::make_shared<BuildCache>(folder.path() / "cache"));
  const Target target =
      load_manifest(source_folder() / "kernel_sources" / name / (name + ".target.toml"));
  const Problem problem = problem_for(target);
  const ParameterSpace space = space_of(with_fixed(target, fixed), problem, gpu);
  ASSERT_FALSE(space.empty());
  const CompiledKernel compiled =
      compiler.compile(source_unit(target, problem, space.at(space.size() / 2), gpu));
  EXPECT_EQ(compiled.outcome, Outcome::ok) << compiled.log;
}

const NamedValues kMma{{"KERNEL", "mma"}}, kWgmma{{"KERNEL", "wgmma"}};

TEST(SplitKernels, CompileForAHopper) {
  const auto packed = [](const Target& target) {
    return problem_of(target, {{"M", 517}, {"N", 389}, {"K", 1031}}, {});
  };
  const auto strided = [](const Target& target) {
    Problem problem = odd_problem(target);
    for (const char* name : {"lda", "ldb", "ldc", "ldd"}) problem.free.push_back({name, 1033});
    problem.free.push_back({"stride_a", 1033 * 517 + 7});
    return problem;
  };
  for (Problem (*const problem)(const Target&) : {+packed, +odd_problem, +strided}) {
    for (const char* family : {"split", "tiled"})
      expect_to_compile("gemm", {{"KERNEL", family}}, gpu_of(90, 227 << 10), problem);
  }
}

class TensorCoreKernels : public testing::TestWithParam<std::string> {};

TEST_P(TensorCoreKernels, CompileForAHopper) {
  expect_to_compile(GetParam(), kMma);
  expect_to_compile(GetParam(), kWgmma);
}

TEST_P(TensorCoreKernels, CompileForGpusWithoutWgmma) {
  expect_to_compile(GetParam(), kMma, gpu_of(80, 163 << 10));
  expect_to_compile(GetParam(), kMma, gpu_of(89, 99 << 10));
  expect_to_compile(GetParam(), kMma, gpu_of(120, 99 << 10));
}

TEST(SharedCopies, CompileForAHopper) {
  NamedValues shared = kWgmma;
  shared.push_back({"BESIDE", 2});
  shared.push_back({"BELOW", 4});
  expect_to_compile("gemm16", shared, gpu_of(90, 227 << 10), uneven_problem);
}

INSTANTIATE_TEST_SUITE_P(Targets, TensorCoreKernels,
                         testing::Values("gemm16", "gemm_i8", "gemm_tf32"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace autotune
