// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/nvrtc.hpp"

#include "tests/support/kernel_headers.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/tuner/gpu/cuda_unit.hpp"
#include "tuner/gpu/toolkit.hpp"

namespace autotune {
namespace {

using testing::MatchesRegex;

Build build_of(const SourceUnit& unit, double seconds = 60) {
  return compile_with_nvrtc(nvrtc_task(unit, 90), std::chrono::duration<double>(seconds));
}

TEST(Nvrtc, KnowsItsVersionToThePatch) {
  EXPECT_THAT(nvrtc_version(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(Nvrtc, CompilesTheSameSourceToTheSameBytes) {
  const SourceUnit unit{
      "k.cu", "#define N 3\n", "extern \"C\" __global__ void k(int* a) { *a = N; }", {}, {}, {"k"}};
  const Build one = build_of(unit), other = build_of(unit);
  ASSERT_TRUE(one.binary) << one.log;
  EXPECT_EQ(*one.binary, *other.binary);
}

TEST(Nvrtc, ErrorsNameTheLineOfTheSourceNotOfThePrelude) {
  const Build build =
      build_of({"k.cu", "#define A 1\n#define B 2\n", "\nint x = nothing;", {}, {}, {}});
  EXPECT_FALSE(build.binary);
  EXPECT_TRUE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("k.cu(2): error"));
}

TEST(Nvrtc, FindsTheToolkitsHeaders) {
  ASSERT_FALSE(toolkit_headers().empty());
  EXPECT_TRUE(std::filesystem::exists(toolkit_headers().front() / "cuda_fp16.h"));
  const Build build = build_of(cuda_unit("#include <cuda_fp16.h>\n#include <mma.h>\n__half h;"));
  EXPECT_TRUE(build.binary) << build.log;
  const Build library =
      build_of(cuda_unit("#include <cooperative_groups.h>\n#include <cuda/std/array>\n"));
  EXPECT_TRUE(library.binary) << library.log;
}

TEST(Nvrtc, AMissingToolkitIsNamedWhereItsHeadersAreIncluded) {
  const std::string log = "k.cu(1): catastrophic error: cannot open source file \"cuda_bf16.h\"";
  EXPECT_EQ(with_advice(log + "\n  #include\n", true), log + "\n  #include\n");
  EXPECT_EQ(with_advice(log + "\n  #include\n", false),
            log + " (CUDA's headers are not found: set CUDA_HOME to the toolkit's folder)" +
                "\n  #include\n");
  EXPECT_EQ(with_advice("k.cu(1): error: no\n", false), "k.cu(1): error: no\n");
}

TEST(Nvrtc, AMissingHeaderIsAnErrorWithItsName) {
  const Build build = build_of(cuda_unit("#include \"gone.cuh\""));
  EXPECT_FALSE(build.binary);
  EXPECT_THAT(build.log, HasSubstr("gone.cuh"));
}

TEST(Nvrtc, AnArchitectureInTheUnitsOptionsReplacesThePlainOne) {
  const SourceUnit plain = cuda_unit("");
  EXPECT_THAT(nvrtc_options(plain, 80), Contains("-arch=sm_80"));
  const SourceUnit special = cuda_unit("", {}, {"-arch=sm_75"});
  EXPECT_THAT(nvrtc_options(special, 80), Contains("-arch=sm_75"));
  EXPECT_THAT(nvrtc_options(special, 80), Not(Contains("-arch=sm_80")));
}

TEST(Nvrtc, AGpuThatItDoesNotKnowGetsTheNewestCodeOfItsMajorVersion) {
  const std::vector<int> known = {75, 80, 86, 87, 89, 90, 100, 103, 120};
  EXPECT_EQ(architecture_for(90, known), 90);
  EXPECT_EQ(architecture_for(88, known), 87);
  EXPECT_EQ(architecture_for(101, known), 100);
  EXPECT_EQ(architecture_for(121, known), 120);
  EXPECT_EQ(architecture_for(70, known), std::nullopt) << "older than what NVRTC compiles for";
  EXPECT_EQ(architecture_for(110, known), std::nullopt);
  EXPECT_EQ(architecture_for(130, known), std::nullopt);
}

TEST(Nvrtc, AGpuOfANewerMajorVersionIsAnErrorWithTheRemedy) {
  const std::vector<int> known = {75, 90};
  DeviceInfo gpu;
  gpu.name = "NVIDIA X";
  const auto complaint = [&](int compute_capability) -> std::string {
    gpu.compute_capability = compute_capability;
    return thrown_by([&] { require_architecture(gpu, known); });
  };
  EXPECT_EQ(complaint(90), "nothing was thrown");
  EXPECT_EQ(complaint(91), "nothing was thrown") << "sm_90 runs there";
  EXPECT_THAT(complaint(130), HasSubstr("NVIDIA X has compute capability 13.0, and NVRTC "));
  EXPECT_THAT(complaint(130), HasSubstr(" compiles for 7.5 to 9.0: install a newer CUDA toolkit"));
  EXPECT_THAT(complaint(70), HasSubstr("install an older CUDA toolkit"));
}

/// A launch that is not cooperative would hang, or trap.
TEST(Nvrtc, AKernelThatWaitsForItsGridIsRefused) {
  const std::string source = R"(
    #include <cooperative_groups.h>
    __device__ __noinline__ void wait() { cooperative_groups::this_grid().sync(); }
    __device__ __noinline__ void call(float* y) { y[0] = 2; wait(); }
    extern "C" __global__ void own(float* y) { cooperative_groups::this_grid().sync(); y[0] = 1; }
    template <class T> __global__ void far(T* y) { call(y); }
    extern "C" __global__ void block(float* y) {
      cooperative_groups::this_thread_block().sync();
      y[cooperative_groups::this_grid().thread_rank()] = 1;
    })";
  const auto build = [&](const std::string& entry) { return build_of(cuda_unit(source, {entry})); };
  EXPECT_TRUE(build("block").binary) << build("block").log;
  for (const char* entry : {"own", "far<float>"}) {
    const Build refused = build(entry);
    EXPECT_FALSE(refused.binary);
    EXPECT_THAT(refused.log, HasSubstr(std::string("k.cu: error: ") + entry + " waits for the " +
                                       "whole grid (this_grid().sync()), which needs a "
                                       "cooperative launch"));
  }
}

/// The types of its parameters are not known then.
TEST(Nvrtc, AKernelThatIsOverloadedOrMissingIsCompiledAsBefore) {
  const Build overloaded = build_of(cuda_unit(R"(
      extern "C" __global__ void k(int*) {}
      __global__ void k(float*) {})",
                                              {"k"}));
  EXPECT_TRUE(overloaded.binary) << overloaded.log;
  EXPECT_TRUE(build_of(cuda_unit("", {"k"})).binary);
  EXPECT_TRUE(
      build_of(cuda_unit("extern \"C\" __global__ void k(int*) {}", {"k"}, {"-std=c++11"})).binary);
  const Build wrong = build_of(cuda_unit("extern \"C\" __global__ void k(Gone*) {}", {"k"}));
  EXPECT_THAT(wrong.log, Not(HasSubstr("autotune_parameters")));
  EXPECT_THAT(wrong.log, HasSubstr("k.cu(1): error"));
}

TEST(Nvrtc, CompilesForAllInstructionsOfTheDevice) {
  const SourceUnit plain = cuda_unit("");
  EXPECT_THAT(nvrtc_options(plain, 90), Contains("-arch=sm_90a"));
  const Build build = build_of(cuda_unit(
      "extern \"C\" __global__ void k() { asm volatile(\"wgmma.fence.sync.aligned;\"); }"));
  EXPECT_TRUE(build.binary) << build.log;
}

/// More than a thread of an application has room for.
TEST(Nvrtc, NestingNeedsNoStackOfTheCallers) {
  const std::size_t depth = 20'000;
  const Build build = build_of(
      cuda_unit("extern \"C\" __global__ void k(int* a) { *a = " + std::string(depth, '(') + "*a" +
                std::string(depth, ')') + "; }"));
  EXPECT_TRUE(build.binary) << build.log;
}

TEST(Nvrtc, ACompileThatTakesTooLongIsStoppedAndNotKept) {
  std::string text =
      "template <int N> struct F { static constexpr int v = F<N-1>::v + N % 7; };\n"
      "template <> struct F<0> { static constexpr int v = 0; };\n"
      "extern \"C\" __global__ void k(float* a) {\n";
  for (int i = 0; i < 4000; ++i)
    text += "a[" + std::to_string(i) + "] = sinf(a[threadIdx.x + 1]);\n";
  const auto start = std::chrono::steady_clock::now();
  const Build build = build_of(cuda_unit(text + "}"), 0.05);
  EXPECT_FALSE(build.binary);
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("took more than 0.05 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// Each header of a kernel compiles by itself with NVRTC, but for those that imitate a GPU.
// tests/kernel_sources/headers_test.cpp compiles them for the host.

TEST(KernelHeaders, CompileByThemselves) {
  for (const auto& header : kernel_headers()) {
    if (header.parent_path() == "device/on_host") continue;
    const SourceUnit unit = unit_of_header(header);
    for (const int capability : {75, 90}) {
      SCOPED_TRACE(header.string() + " for " + std::to_string(capability));
      const Build build = compile_with_nvrtc(nvrtc_task(unit, capability));
      EXPECT_TRUE(build.binary) << build.log;
      EXPECT_EQ(build.log.find("warning"), std::string::npos) << build.log;
    }
  }
}

TEST(ToolkitHeaders, AreThoseOfAToolkit) {
  for (const std::filesystem::path& folder : toolkit_headers()) {
    EXPECT_TRUE(std::filesystem::is_directory(folder)) << folder;
  }
  if (!toolkit_headers().empty()) {
    EXPECT_TRUE(std::filesystem::exists(toolkit_headers().front() / "cuda_fp16.h"));
  }
}

/// The key of a cubin has it, so that nothing compiled with other headers is used.
TEST(ToolkitHeaders, TheStampOfAFolderChangesWithAnyFile) {
  const ScratchFolder folder;
  folder.write("cuda_fp16.h", "#define A 1\n");
  folder.write("cccl/cub/cub.cuh", "#define B 1\n");
  const std::string stamp = stamp_of(folder.path());
  EXPECT_EQ(stamp_of(folder.path()), stamp);
  folder.write("cccl/cub/cub.cuh", "#define B 2\n");
  const std::string changed = stamp_of(folder.path());
  EXPECT_NE(changed, stamp);
  folder.write("cccl/cub/more.cuh", "");
  EXPECT_NE(stamp_of(folder.path()), changed);
  if (!toolkit_headers().empty()) {
    EXPECT_EQ(toolkit_stamp(), stamp_of(toolkit_headers().front()));
  }
}

TEST(ToolkitHeaders, AdviceStandsInTheLineThatMissesOne) {
  const std::string log =
      "k.cu(1): error: cannot open source file \"cuda_fp16.h\"\n#include <cuda_fp16.h>\n";
  EXPECT_EQ(
      with_advice(log, false),
      "k.cu(1): error: cannot open source file \"cuda_fp16.h\" (CUDA's headers are not found: "
      "set CUDA_HOME to the toolkit's folder)\n#include <cuda_fp16.h>\n");
  const std::string cut = log.substr(0, log.find('\n'));
  EXPECT_TRUE(with_advice(cut, false).starts_with(cut + " (CUDA's headers"))
      << "without a line end";
}

TEST(ToolkitHeaders, OtherLogsStay) {
  const std::string own = "k.cu(1): error: cannot open source file \"mine.cuh\"\n";
  EXPECT_EQ(with_advice(own, false), own);
  const std::string known = "k.cu(1): error: cannot open source file \"cuda_fp16.h\"\n";
  EXPECT_EQ(with_advice(known, true), known) << "the headers were found";
  EXPECT_EQ(with_advice("", false), "");
}

}  // namespace
}  // namespace autotune
