// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/hidden_headers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/tuner/gpu/cuda_unit.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/nvrtc.hpp"

namespace autotune {
namespace {

constexpr const char* kSource = R"(
struct alignas(64) Map { char bytes[128]; };
extern "C" __global__ void plain(float* to) { to[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(128, 2) shared(float* data, int n, double scale) {
  __shared__ float tile[250];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[threadIdx.x * 7 % 128] * n + scale;
}
extern "C" __global__ void by_value(float* data, int n, const __grid_constant__ Map map) {
  data[n] = map.bytes[5];
}
extern "C" __global__ void squeezed(float* data) {
  float copy[200];
  for (int i = 0; i < 200; ++i) copy[i] = data[i];
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 200; ++i) copy[i] = copy[i] * copy[(i + 1) % 200];
  for (int i = 0; i < 200; ++i) data[i] = copy[i];
}
)";

SourceUnit unit_of(std::vector<std::string> options = {}) {
  return {"kernels.cu", "", kSource, {}, std::move(options), {}};
}

CubinKernel kernel_of(const Build& build, const std::string& name) {
  for (const CubinKernel& kernel : kernels_of(*build.binary)) {
    if (kernel.resources.entry == name) return kernel;
  }
  ADD_FAILURE() << "no kernel " << name;
  return {};
}

TEST(Cubin, KnowsKernelsByTheirCppNames) {
  const SourceUnit unit = cuda_unit(R"(namespace ns {
template <class T, int n> __global__ void set(T* a, double b) { a[0] = n * b; }
})",
                                    {"ns::set<float, 3>", "ns::set<int, (4 > 3)>"});
  const Build build = compile_with_nvrtc(nvrtc_task(unit, 90));
  ASSERT_TRUE(build.binary) << build.log;
  const std::vector<CubinKernel> kernels = kernels_of(*build.binary);
  ASSERT_EQ(kernels.size(), 2u);
  for (const std::string& entry : unit.entries) {
    const auto kernel = std::ranges::find(
        kernels, entry, [](const CubinKernel& each) { return each.resources.entry; });
    ASSERT_NE(kernel, kernels.end()) << entry;
    EXPECT_TRUE(kernel->symbol.starts_with("_ZN2ns3setI")) << kernel->symbol;
    EXPECT_EQ(kernel->resources.parameter_bytes, (std::vector<int>{8, 8}));
    EXPECT_GT(kernel->resources.registers, 0);
  }
}

TEST(Cubin, KnowsTheTypesOfParameters) {
  const SourceUnit unit = cuda_unit(R"(
    namespace ns {
    template <class T> struct Of { typedef T* Pointer; };
    template <class T> __global__ void set(typename Of<T>::Pointer a, const T b) { a[0] = b; }
    }
    extern "C" __global__ void plain(const float* __restrict__ x, unsigned long long n,
                                     float4* const y, void* z, const bool flag) {}
    extern "C" __global__ void twice(int) {}
    __global__ void twice(float) {})",
                                    {"ns::set<float>", "plain", "twice"});
  const Build build = compile_with_nvrtc(nvrtc_task(unit, 90));
  ASSERT_TRUE(build.binary) << build.log;
  EXPECT_TRUE(kernel_of(build, "plain").resources.parameter_types.empty()) << "twice is overloaded";
  const Build known =
      compile_with_nvrtc(nvrtc_task(cuda_unit(unit.text, {"ns::set<float>", "plain"}), 90));
  ASSERT_TRUE(known.binary) << known.log;
  EXPECT_EQ(kernel_of(known, "ns::set<float>").resources.parameter_types,
            (std::vector<std::string>{"float*", "float"}));
  EXPECT_EQ(
      kernel_of(known, "plain").resources.parameter_types,
      (std::vector<std::string>{"float const*", "unsigned long long", "float4*", "void*", "bool"}));
}

TEST(Cubin, DamagedSymbolsAreLeftOut) {
  EXPECT_EQ(with_symbols("cubin", {}), "cubin");
  const std::string whole = with_symbols("", {{"ns::f<1>", "_Zf", "_Zg"}});
  for (std::size_t i = 0; i <= whole.size(); ++i) EXPECT_TRUE(kernels_of(whole.substr(i)).empty());
}

Build build_for(int architecture) {
  const SourceUnit unit = unit_of({"-Xptxas=-v", "--maxrregcount=64"});
  return compile_with_nvrtc(nvrtc_task(unit, architecture));
}

/// The number before `words` in ptxas' report on one kernel; 0 when it says nothing of it.
int reported(const std::string& log, const std::string& kernel, const std::string& words) {
  const auto start = log.find("entry function '" + kernel + "'");
  const auto end = log.find("Compiling entry function", start + 1);
  const std::string part = log.substr(start, end == std::string::npos ? end : end - start);
  const auto at = part.find(" " + words);
  if (at == std::string::npos) return 0;
  return std::stoi(part.substr(part.find_last_not_of("0123456789", at - 1) + 1));
}

class Cubin : public testing::TestWithParam<int> {};

TEST_P(Cubin, SaysWhatPtxasReported) {
  const Build build = build_for(GetParam());
  ASSERT_TRUE(build.binary) << build.log;
  for (const std::string name : {"plain", "shared", "by_value", "squeezed"}) {
    const CubinKernel kernel = kernel_of(build, name);
    EXPECT_EQ(kernel.resources.registers, reported(build.log, name, "registers")) << name;
    EXPECT_EQ(kernel.resources.shared_bytes, reported(build.log, name, "bytes smem")) << name;
    EXPECT_EQ(kernel.resources.local_bytes, reported(build.log, name, "bytes stack frame")) << name;
    EXPECT_EQ(kernel.barriers, reported(build.log, name, "barriers")) << name;
  }
  EXPECT_EQ(kernel_of(build, "shared").resources.shared_bytes, 1000);
  EXPECT_GT(kernel_of(build, "squeezed").resources.local_bytes, 0);
}

TEST_P(Cubin, GivesLaunchBoundsAndParameters) {
  const Build build = build_for(GetParam());
  ASSERT_TRUE(build.binary) << build.log;
  EXPECT_EQ(kernel_of(build, "shared").resources.max_threads, 128);
  EXPECT_EQ(kernel_of(build, "plain").resources.max_threads, 0);
  EXPECT_EQ(kernel_of(build, "shared").resources.parameter_bytes, (std::vector<int>{8, 4, 8}));
  EXPECT_EQ(kernel_of(build, "by_value").resources.parameter_bytes, (std::vector<int>{8, 4, 128}));
}

std::vector<int> architectures() {
  const auto all = nvrtc_architectures();
  return {all.begin(), all.end()};
}

INSTANTIATE_TEST_SUITE_P(Architecture, Cubin, testing::ValuesIn(architectures()),
                         testing::PrintToStringParamName());

TEST(CubinOfHopper, GivesTheClusterShape) {
  const SourceUnit unit =
      cuda_unit("extern \"C\" __global__ void __cluster_dims__(2, 2, 1) pair() {}");
  const Build build = compile_with_nvrtc(nvrtc_task(unit, 90));
  ASSERT_TRUE(build.binary) << build.log;
  EXPECT_EQ(kernel_of(build, "pair").cluster, (Dim3{2, 2, 1}));
}

TEST(CubinOfHopper, CutShortAnywhereItIsReadWithoutHarm) {
  const Build build = build_for(90);
  ASSERT_TRUE(build.binary) << build.log;
  std::string cubin = *build.binary;
  for (std::size_t bytes = 0; bytes < cubin.size(); bytes += bytes < 512 ? 1 : 37) {
    EXPECT_LE(kernels_of(cubin.substr(0, bytes)).size(), 4u);
  }
  unsigned state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525 + 1013904223;
    const std::size_t at = (state >> 8) % cubin.size();
    const char before = cubin[at];
    cubin[at] = static_cast<char>(state >> 3);
    EXPECT_LE(kernels_of(cubin).size(), 40u);
    if (i % 50 != 0) cubin[at] = before;  // some damage stays
  }
  EXPECT_TRUE(kernels_of("").empty());
  EXPECT_TRUE(kernels_of("no ELF at all").empty());
}

/// What failed for want of a folder is compiled again once the unit names it.
TEST(CubinCompiler, AFolderThatTheUnitNamesIsInTheKey) {
  const ScratchFolder folder;
  folder.write("one/value.cuh", "#define VALUE 1\n");
  folder.write("two/value.cuh", "#define VALUE 2\n");
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  SourceUnit unit = cuda_unit(
      "#include <value.cuh>\n"
      "extern \"C\" __global__ void k(int* to) { *to = VALUE; }\n",
      {"k"});
  EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error);
  unit.options = {"-I" + (folder.path() / "one").string()};
  const CompiledKernel one = compiler.compile(unit);
  ASSERT_EQ(one.outcome, Outcome::ok) << one.log;
  unit.options = {"-I" + (folder.path() / "two").string()};
  const CompiledKernel two = compiler.compile(unit);
  ASSERT_EQ(two.outcome, Outcome::ok) << two.log;
  EXPECT_NE(*one.binary, *two.binary);
}

/// However it is read, a header that has changed is noticed.
TEST(CubinCompiler, EveryHeaderIsInTheKeyOrTheBuildIsNotKept) {
  const ScratchFolder folder;
  const HiddenHeaders headers(folder.path());
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  for (const auto& way : headers.ways()) {
    if (way.text.starts_with("#import")) continue;  // NVRTC has none
    const SourceUnit unit =
        cuda_unit(way.text + "extern \"C\" __global__ void k(int* to) { *to = VALUE; }\n", {"k"},
                  way.options, headers.folders());
    headers.write("#define VALUE 1\n");
    const CompiledKernel kernel = compiler.compile(unit);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << way.text << kernel.log;
    headers.write("#error gone\n");
    EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error) << way.text;
  }
}

/// Sums are touched between multiplications, so each has to wait for the one before.
TEST(CubinCompiler, SerializedTensorCoresAreInvalid) {
  const ScratchFolder folder;
  const CubinCompiler compiler(90, std::make_shared<BuildCache>(folder.path() / "cache"));
  const auto with = [&](const std::string& touch) {
    return compiler.compile(
        cuda_unit("#include \"device/wgmma.cuh\"\n"
                  "extern \"C\" __global__ void k(float* out, unsigned at, int n) {\n"
                  "  float sums[8];\n"
                  "  for (int i = 0; i < n; ++i) {\n"
                  "    wgmma_fence();\n"
                  "    const MatrixDescriptor rows(at, kAtomBytes);\n"
                  "    Wgmma<16>::multiply(sums, rows, rows, i > 0);\n" +
                      touch +
                      "    wgmma_commit();\n"
                      "  }\n"
                      "  wgmma_wait();\n"
                      "  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = sums[i];\n"
                      "}\n",
                  {"k"}, {}, {source_folder() / "kernel_sources"}));
  };
  const CompiledKernel touched = with("if (out[i] > 0) sums[3] += 1;\n");
  EXPECT_EQ(touched.outcome, Outcome::invalid);
  EXPECT_THAT(touched.log, testing::HasSubstr("serialized"));
  const CompiledKernel kept = with("");
  EXPECT_EQ(kept.outcome, Outcome::ok) << kept.log;
}

TEST(CubinCompiler, HostCodeOfThrustIsAdvisedAgainst) {
  const ScratchFolder folder;
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const CompiledKernel whole =
      compiler.compile(cuda_unit("#include <cub/device/device_reduce.cuh>\n"));
  EXPECT_EQ(whole.outcome, Outcome::compile_error);
  EXPECT_THAT(whole.log, testing::StartsWith("k.cu: error: it includes parts of "));
  EXPECT_THAT(whole.log, testing::HasSubstr("such as <cub/block/block_reduce.cuh>"));
  const CompiledKernel part = compiler.compile(cuda_unit("#include <cub/cub.cuh>\n"));
  EXPECT_EQ(part.outcome, Outcome::ok) << part.log;
}

/// Files elsewhere may hold results.
TEST(CubinCompiler, ASourceReadsItsOwnFoldersAndTheToolkitOnly) {
  const ScratchFolder folder;
  folder.write("own/value.cuh", "#define VALUE 1\n");
  folder.write("own/table.txt", "1, 2\n");
  folder.write("common/value.cuh", "#define VALUE 2\n");
  folder.write("other/table.txt", "3, 4\n");
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const auto with = [&](const std::string& included) {
    return compiler.compile({"k.cu",
                             "",
                             "#include " + included +
                                 "\n#ifdef VALUE\n__constant__ int a[] = {VALUE};\n#endif\n"
                                 "extern \"C\" __global__ void k(int* to) { *to = 1; }\n",
                             {folder.path() / "own"},
                             {},
                             {"k"},
                             {folder.path() / "own/result.cuh"}});
  };
  for (const char* mine : {"\"value.cuh\"", "<cuda_fp16.h>", "\"../common/value.cuh\""}) {
    const CompiledKernel kernel = with(mine);
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
  }
  folder.write("own/result.cuh", "#define VALUE 7\n");
  folder.write("other/result.h", "#define VALUE 7\n");
  const std::string here = folder.path().string();
  for (const std::string& other :
       {here + "/other/result.h", std::string("result.cuh"), std::string("/proc/self/cmdline")}) {
    const CompiledKernel kernel = with('"' + other + '"');
    EXPECT_EQ(kernel.outcome, Outcome::compile_error) << other;
    if (other.starts_with("/proc")) continue;  // no C++
    EXPECT_THAT(kernel.log, testing::HasSubstr("k.cu: error: it reads "));
    EXPECT_THAT(kernel.log, testing::HasSubstr(other));
  }
}

/// A header there would be in no key.
TEST(CubinCompiler, TheCurrentFolderIsNotSearched) {
  const ScratchFolder folder;
  folder.write("value.cuh", "#define VALUE 1\n");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  const CompiledKernel kernel = compiler.compile(cuda_unit("#include \"value.cuh\"\n"));
  std::filesystem::current_path(before);
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
}

}  // namespace
}  // namespace autotune
