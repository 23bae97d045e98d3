// SPDX-License-Identifier: Apache-2.0
// autotune db export --embed: the header compiles alone, finds its rows, and launches as it should.
#include <fstream>
#include <sstream>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"

namespace autotune::testing {
namespace {

/// A driver that records launches, in place of libcuda.
constexpr const char* kFakeDriver = R"(
#include "gemm_tuned.hpp"
#include <cstdio>
static unsigned launches, grid, allocations;
static float alpha;
extern "C" {
CUresult cuDeviceGetName(char*, int, CUdevice) { return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int*, CUdevice_attribute, CUdevice) { return CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  *module = reinterpret_cast<CUmodule>(1);
  const unsigned char elf[] = {0x7f, 'E', 'L', 'F'};
  return std::memcmp(image, elf, 4) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char* name) {
  return std::strncmp(name, "gemm", 4) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*) { return CUDA_SUCCESS; }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuMemAlloc(CUdeviceptr*, size_t) { ++allocations; return CUDA_SUCCESS; }
CUresult cuMemFree(CUdeviceptr) { --allocations; return CUDA_SUCCESS; }
CUresult cuMemsetD8(CUdeviceptr, unsigned char, size_t) { return CUDA_SUCCESS; }
CUresult cuMemcpyDtoDAsync(CUdeviceptr, CUdeviceptr, size_t, CUstream) { return CUDA_SUCCESS; }
CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
    const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void** values, void**) {
  ++launches;
  grid = config->gridDimX * config->gridDimY;
  alpha = *static_cast<float*>(values[4]);
  return CUDA_SUCCESS;
}
}
#define EXPECT(condition) if (!(condition)) return std::puts(#condition), 1
int main() {
  namespace tuned = autotune_embedded;
  const tuned::Gpu h200{"NVIDIA H200", 90, 132}, other{"NVIDIA GH200", 90, 114}, old{"A", 80, 108};
  const tuned::Row* row = tuned::gemm::find(h200, {128, 128, 128, 1});
  EXPECT(row != nullptr && row == tuned::gemm::find(other, {128, 128, 128, 1}));
  EXPECT(row->buffers.size == 4 && row->buffers[0].bytes == 128 * 128 * 4);
  EXPECT(std::strcmp(row->scalars[0].name, "alpha") == 0);
  EXPECT(tuned::gemm::find(old, {128, 128, 128, 1}) == nullptr);
  EXPECT(tuned::gemm::find(h200, {128, 128, 129, 1}) == nullptr);
  EXPECT(tuned::gemm::find(h200, {128, 128}) == nullptr);
  const tuned::Row* skinny = tuned::gemm::find(h200, {1, 64, 64, 1});
  EXPECT(skinny != nullptr && skinny != row);
  {
    tuned::Kernel kernel;
    const CUdeviceptr buffers[4] = {};
    EXPECT(kernel.launch(buffers, nullptr) == CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(kernel.load(*row) == CUDA_SUCCESS);
    EXPECT(kernel.launch(buffers, nullptr) == CUDA_SUCCESS);
    EXPECT(launches == row->launches.size && grid > 0 && alpha == 1.0f);
    const double scalars[2] = {2.5, 0};
    EXPECT(kernel.launch(buffers, nullptr, scalars) == CUDA_SUCCESS && alpha == 2.5f);
  }
  EXPECT(allocations == 0);
  std::puts("right");
}
)";

std::size_t count_of(const std::string& what, const std::string& text) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class Embed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "this build has no NVRTC";
  }

  void tune(const std::string& device, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "tune",     "--target", "gemm",     "--sizes", "128,M=1,N=64,K=64",
        "--device", device,     "--budget", "4",       "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = sandbox_.run(words);
    ASSERT_EQ(ended.status, 0) << ended.err;
  }

  Ended run_export(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"db", "export", "--format", "cpp", "--embed"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.run(words);
  }

  /// Compiles a program of the sandbox beside the header.
  Ended compile(const std::string& source, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {AUTOTUNE_TEST_CXX,
                                      "-std=c++17",
                                      "-Wall",
                                      "-Wextra",
                                      "-Werror",
                                      std::string("-I") + AUTOTUNE_TEST_CUDA_INCLUDE,
                                      "-I" + sandbox_.folder().string(),
                                      source,
                                      "-o",
                                      (sandbox_.folder() / "program").string()};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.run_program(words);
  }

  Sandbox sandbox_;
};

TEST_F(Embed, TheHeaderCompilesAloneAndFindsAndLaunchesItsRows) {
  tune("model:h200");
  const Ended exported = run_export({"--target", "gemm", "--output", "gemm_tuned.hpp"});
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Ended built = compile(sandbox_.write("driver.cpp", kFakeDriver).string());
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_EQ(sandbox_.run_program({(sandbox_.folder() / "program").string()}).out, "right\n");
}

TEST_F(Embed, EqualCubinsAreStoredOnce) {
  tune("model:h200");
  for (const char* size : {"128", "1x64x64"}) {
    const Ended pinned =
        sandbox_.run({"db", "pin", "--target", "gemm", "--size", size, "--config", "KERNEL=tiled"});
    ASSERT_EQ(pinned.status, 0) << pinned.err;
  }
  const Ended exported = run_export({"--target", "gemm"});
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(count_of("unsigned char k", exported.out), 1u);
  EXPECT_EQ(count_of("\"KERNEL=tiled", exported.out), 2u);
}

TEST_F(Embed, WhatCannotBeEmbeddedIsRefused) {
  tune("model:h200", {"--set", "layout=NT"});
  expect_refused(run_export({}), 2, {"db export needs --target"});
  expect_refused(sandbox_.run({"db", "export", "--embed", "--target", "gemm"}), 2,
                 {"--embed is for --format cpp, not jsonl"});
  tune("model:h200", {"--set", "layout=TN"});
  expect_refused(run_export({"--target", "gemm"}), 2,
                 {"one combination of settings", "choose with --set"});
  EXPECT_EQ(run_export({"--target", "gemm", "--set", "layout=NT"}).status, 0);
  tune("model:h200");
  EXPECT_EQ(run_export({"--target", "gemm"}).status, 0);  // with the default settings
}

TEST_F(Embed, AnswersOfTheHostAreLeftOut) {
  ASSERT_EQ(sandbox_.run(autotune::testing::tune("tiny", "100", {"--budget", "2"})).status, 0);
  expect_refused(run_export({"--target", manifest_of("tiny")}), 1,
                 {"nothing is tuned there on a GPU"});
}

/// The example, on a GPU.
TEST_F(Embed, TheExampleIsRightOnAGpu) {
  if (sandbox_.run({"list", "devices"}).out.find("cuda:0") == std::string::npos) {
    GTEST_SKIP() << "there is no GPU here";
  }
  tune("cuda", {"--no-baseline"});
  ASSERT_EQ(run_export({"--target", "gemm", "--output", "gemm_tuned.hpp"}).status, 0);
  const Ended built = compile(source_folder().string() + "/examples/embedded/embedded_gemm.cpp",
                              {"-l:libcuda.so.1"});
  ASSERT_EQ(built.status, 0) << built.err;
  const Ended ended = sandbox_.run_program({(sandbox_.folder() / "program").string()});
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("128x128x128"));
}

}  // namespace
}  // namespace autotune::testing
