// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/tuner/gpu/cuda_unit.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/passed_values.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

class ModelDeviceTest : public testing::Test {
 protected:
  std::unique_ptr<Device> device(int compute_capability = 90) {
    DeviceInfo info;
    info.name = "model of a GPU";
    info.kind = DeviceKind::model;
    info.compute_capability = compute_capability;
    return make_model_device(info, std::make_shared<BuildCache>(folder_ / "cache"));
  }

  const ScratchFolder folder_;
};

SourceUnit unit_of(const std::string& body) {
  return cuda_unit("extern \"C\" __global__ void k(float* a) {" + body + "}", {"k"});
}

TEST_F(ModelDeviceTest, CompilesForAGpuThatIsNotHere) {
  for (const int architecture : {75, 90, 120}) {
    const CompiledKernel kernel = device(architecture)->compile(unit_of("a[0] = 1;"));
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    ASSERT_EQ(kernel.resources.size(), 1u);
    EXPECT_EQ(kernel.resources[0].entry, "k");
    EXPECT_GT(kernel.resources[0].registers, 0);
  }
}

TEST_F(ModelDeviceTest, OurOwnKernelsCompileForOldAndNew) {
  for (const int architecture : {nvrtc_architectures().front(), 90, nvrtc_architectures().back()}) {
    std::vector<SourceUnit> sources{device_kernels_source()};
    for (const std::string& type : element_type_names())
      sources.push_back(device_kernels_source(*element_type(type)));
    for (const SourceUnit& source : sources) {
      const CompiledKernel kernel = device(architecture)->compile(source);
      EXPECT_EQ(kernel.outcome, Outcome::ok)
          << architecture << ": " << source.prelude << kernel.log;
    }
  }
}

TEST_F(ModelDeviceTest, ASecondRunCompilesNothing) {
  const CompiledKernel first = device()->compile(unit_of("a[0] = 1;"));
  const CompiledKernel second = device()->compile(unit_of("a[0] = 1;"));
  EXPECT_FALSE(first.cached);
  EXPECT_GT(first.seconds, 0);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(*second.binary, *first.binary);
  EXPECT_EQ(second.resources, first.resources);
}

TEST_F(ModelDeviceTest, TheKeyFollowsEverythingThatMakesOtherCode) {
  std::ofstream(folder_ / "tile.cuh") << "#define TILE 4\n";
  SourceUnit unit = cuda_unit("#include \"tile.cuh\"\nextern \"C\" __global__ void k() {}", {"k"},
                              {}, {folder_.path()});
  const std::string key = device()->compile(unit).key;
  EXPECT_EQ(device()->compile(unit).key, key);
  EXPECT_NE(device(80)->compile(unit).key, key);
  SourceUnit other = unit;
  other.prelude = "#define BM 8\n";
  EXPECT_NE(device()->compile(other).key, key);
  other = unit;
  other.options = {"-use_fast_math"};
  EXPECT_NE(device()->compile(other).key, key);
  std::ofstream(folder_ / "tile.cuh") << "#define TILE 8\n";
  EXPECT_NE(device()->compile(unit).key, key);
}

TEST_F(ModelDeviceTest, RunsNothing) {
  EXPECT_FALSE(device()->runs());
  EXPECT_THROW(device()->open({}), Error);
}

TEST_F(ModelDeviceTest, AnArchitectureBeforeTheCompilersIsRefusedWithTheRange) {
  EXPECT_THAT([&] { device(37); }, ThrowsMessage<Error>(AllOf(HasSubstr("compute capability 3.7"),
                                                              HasSubstr("compiles for 7.5"))));
}

// Products on tensor cores compile with NVRTC where they pad, transpose and cut edges. The host
// device runs them with another compiler, which knows more.

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

template <class T>
T passed(const PassedValues& values, std::size_t argument) {
  T value;
  std::memcpy(&value, values.pointers()[argument], sizeof value);
  return value;
}

/// f(a, alpha, b, a, n), where only alpha has a name.
Launch launch() {
  Launch launch;
  launch.entry = "f";
  launch.arguments = {BufferRef{0}, Scalar{ElementType::f32, 0, 1.5, "alpha"}, BufferRef{1},
                      BufferRef{0}, Scalar{ElementType::i32, 7, 0}};
  return launch;
}

const std::vector<BufferSpec> kBuffers = {{"a", ElementType::f32, 8}, {"b", ElementType::f32, 8}};

class PassedValuesTest : public testing::Test {
 protected:
  std::byte memory_[3];
  std::byte *a_ = memory_, *b_ = memory_ + 1, *other_ = memory_ + 2;
  std::byte* addresses_[2] = {a_, b_};
  PassedValues values_{launch(), addresses_, kBuffers};
};

TEST_F(PassedValuesTest, EachArgumentHasItsValue) {
  EXPECT_EQ(passed<std::byte*>(values_, 0), a_);
  EXPECT_EQ(passed<float>(values_, 1), 1.5f);
  EXPECT_EQ(passed<std::byte*>(values_, 2), b_);
  EXPECT_EQ(passed<std::byte*>(values_, 3), a_);
  EXPECT_EQ(passed<int>(values_, 4), 7);
}

TEST_F(PassedValuesTest, ABufferMovesWhereverItIsPassed) {
  values_.move(0, other_);
  EXPECT_EQ(passed<std::byte*>(values_, 0), other_);
  EXPECT_EQ(passed<std::byte*>(values_, 2), b_);
  EXPECT_EQ(passed<std::byte*>(values_, 3), other_);
  EXPECT_EQ(passed<float>(values_, 1), 1.5f);
}

TEST_F(PassedValuesTest, AScalarIsSetByItsName) {
  values_.set({ElementType::f32, 0, -2, "alpha"});
  values_.set({ElementType::i32, 9, 0, "n"});  // nothing is called n
  EXPECT_EQ(passed<float>(values_, 1), -2.0f);
  EXPECT_EQ(passed<int>(values_, 4), 7);
}

TEST_F(PassedValuesTest, ABufferThatIsNotThereIsRefused) {
  Launch wrong = launch();
  wrong.arguments.push_back(BufferRef{2});
  EXPECT_THROW(PassedValues(wrong, addresses_, kBuffers), KernelFailure);
}

TEST(PassedValues, AFieldOfAStructIsSetByItsName) {
  Launch launch;
  launch.entry = "f";
  launch.arguments = {Record{
      "s", {{{ElementType::f32, 0, 0.5, "s.by"}, 0}, {{ElementType::i32, 3, 0, "s.n"}, 196}}, 200}};
  PassedValues values(launch, {}, {});
  struct Passed {
    float by;
    int between[48];
    int n;
  };
  static_assert(sizeof(Passed) == 200);
  values.set({ElementType::i32, 9, 0, "s.n"});
  const auto given = passed<Passed>(values, 0);
  EXPECT_EQ(given.by, 0.5f);
  EXPECT_EQ(given.n, 9);
}

}  // namespace
}  // namespace autotune
