// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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
  const SourceUnit unit{"k.cu", "", R"(namespace ns {
template <class T, int n> __global__ void set(T* a, double b) { a[0] = n * b; }
})",
                        {},     {}, {"ns::set<float, 3>", "ns::set<int, (4 > 3)>"}};
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
  const SourceUnit unit{"k.cu", "", R"(
    namespace ns {
    template <class T> struct Of { typedef T* Pointer; };
    template <class T> __global__ void set(typename Of<T>::Pointer a, const T b) { a[0] = b; }
    }
    extern "C" __global__ void plain(const float* __restrict__ x, unsigned long long n,
                                     float4* const y, void* z, const bool flag) {}
    extern "C" __global__ void twice(int) {}
    __global__ void twice(float) {})", {}, {}, {"ns::set<float>", "plain", "twice"}};
  const Build build = compile_with_nvrtc(nvrtc_task(unit, 90));
  ASSERT_TRUE(build.binary) << build.log;
  EXPECT_TRUE(kernel_of(build, "plain").resources.parameter_types.empty()) << "twice is overloaded";
  const Build known = compile_with_nvrtc(
      nvrtc_task({"k.cu", "", unit.text, {}, {}, {"ns::set<float>", "plain"}}, 90));
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
  const SourceUnit unit{
      "cluster.cu", "", "extern \"C\" __global__ void __cluster_dims__(2, 2, 1) pair() {}",
      {},           {}, {}};
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

}  // namespace
}  // namespace autotune
