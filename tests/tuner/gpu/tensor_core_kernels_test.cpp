// SPDX-License-Identifier: Apache-2.0
// Products on tensor cores compile with NVRTC where they pad, transpose and cut edges. The host
// device runs them with another compiler, which knows more.
#include <cstdint>

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

const Target& gemm() {
  static const Target target =
      load_manifest(source_folder() / "kernel_sources/gemm/gemm.target.toml");
  return target;
}

Problem odd_problem(std::int64_t batch, const NamedValues& settings) {
  return problem_of(gemm(), {{"M", 517}, {"N", 389}, {"K", 1031}, {"batch", batch}}, settings);
}

/// Compiles the configuration in the middle of those that have the fixed values.
void expect_to_compile(const Problem& problem, const NamedValues& fixed,
                       const DeviceInfo& gpu = gpu_of(90, 227 << 10),
                       const Target& target = gemm()) {
  const ScratchFolder folder;
  const CubinCompiler compiler(gpu.compute_capability,
                               std::make_shared<BuildCache>(folder.path() / "cache"));
  const ParameterSpace space = space_of(with_fixed(target, fixed), problem, gpu);
  ASSERT_FALSE(space.empty());
  const CompiledKernel compiled =
      compiler.compile(source_unit(target, problem, space.at(space.size() / 2), gpu));
  EXPECT_EQ(compiled.outcome, Outcome::ok) << compiled.log;
}

TEST(SplitKernels, CompileForAHopper) {
  Problem strided = odd_problem(3, {});
  for (const char* name : {"lda", "ldb", "ldc", "ldd"}) strided.free.push_back({name, 1033});
  strided.free.push_back({"stride_a", 1033 * 517 + 7});
  for (const Problem& problem : {odd_problem(1, {}), odd_problem(3, {}), strided}) {
    for (const char* family : {"split", "tiled"}) expect_to_compile(problem, {{"KERNEL", family}});
  }
}

struct Types {
  const char *setting, *value;
  std::int64_t batch;
  const char *mma, *wgmma;
};

class TensorCoreKernels : public testing::TestWithParam<Types> {
 protected:
  static Problem problem() {
    return odd_problem(GetParam().batch, {{GetParam().setting, GetParam().value}});
  }
};

TEST_P(TensorCoreKernels, CompileForAHopper) {
  expect_to_compile(problem(), {{"KERNEL", GetParam().mma}});
  expect_to_compile(problem(), {{"KERNEL", GetParam().wgmma}});
}

TEST_P(TensorCoreKernels, CompileForGpusWithoutWgmma) {
  const NamedValues mma{{"KERNEL", GetParam().mma}};
  expect_to_compile(problem(), mma, gpu_of(80, 163 << 10));
  expect_to_compile(problem(), mma, gpu_of(89, 99 << 10));
  expect_to_compile(problem(), mma, gpu_of(120, 99 << 10));
}

TEST(Groups, CompileForAHopper) {
  const Target target =
      load_manifest(source_folder() / "kernel_sources/gemm_grouped/gemm_grouped.target.toml");
  for (const NamedValues& settings : {NamedValues{{"layout", "NT"}, {"dtype", "e4m3"}},
                                      NamedValues{{"scales", "blocks"}, {"dtype", "e5m2"}},
                                      NamedValues{{"groups", "padded"}, {"dtype", "f16"}},
                                      NamedValues{{"layout", "NN"}, {"dtype", "bf16"}}}) {
    const Problem problem =
        problem_of(target, {{"G", 9}, {"N", 640}, {"K", 400}, {"M", 3000}}, settings);
    for (const int alternate : {0, 1})
      expect_to_compile(problem, {{"ALTERNATE", alternate}}, gpu_of(90, 227 << 10), target);
  }
}

/// Lines are multiples of 16 but not of 32 bytes.
TEST(SharedCopies, CompileForAHopper) {
  const Problem uneven =
      problem_of(gemm(), {{"M", 520}, {"N", 392}, {"K", 1032}, {"batch", 3}}, {{"dtype", "f16"}});
  expect_to_compile(uneven, {{"KERNEL", "wgmma"}, {"BESIDE", 2}, {"BELOW", 4}});
}

INSTANTIATE_TEST_SUITE_P(Types, TensorCoreKernels,
                         testing::Values(Types{"dtype", "f16", 3, "mma", "wgmma"},
                                         Types{"dtype", "i8", 1, "mma_along_k", "wgmma_along_k"},
                                         Types{"math", "tf32", 1, "mma_along_k", "wgmma_along_k"}),
                         [](const auto& each) { return std::string(each.param.value); });

}  // namespace
}  // namespace autotune
