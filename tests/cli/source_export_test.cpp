// SPDX-License-Identifier: Apache-2.0
// autotune db export --format source: nothing of ours is included, every launch is there, and nvcc
// compiles it alone.
#include <fstream>
#include <iterator>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

/// A database of predictions for a GPU that is not here.
class SourceExport : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  }

  /// The predicted best configuration.
  std::string predict(const std::string& target, const std::string& size, Words more = {}) const {
    Words words = format(
        "tune --target {} --sizes {} --device model:h200 --strategy random --budget 1 "
        "--no-baseline --quiet --json",
        target, size);
    words += more;
    const Ended ended = sandbox_.run(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    std::string text;
    if (ended.status != 0) return text;
    const Json document = Json::parse(ended.out);
    for (const auto& [name, value] : document["problems"][0]["best"]["config"].items()) {
      text += name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()) + " ";
    }
    return text;
  }

  Ended exported(const std::string& target, const std::string& size, Words more = {}) const {
    return sandbox_.run(
        Words(format("db export --format source --target {} --size {}", target, size)) + more);
  }

  Sandbox sandbox_;
};

TEST_F(SourceExport, OfEveryShippedTargetIncludesTheToolkitAlone) {
  const Json targets = sandbox_.json("list targets");
  for (const Json& each : targets) {
    const std::string target = each["name"];
    SCOPED_TRACE(target);
    const std::string size = "256";
    predict(target, size);
    const Ended ended = exported(target, size, format("--output {}", target));
    ASSERT_EQ(ended.status, 0) << ended.err;
    const std::string source = file_bytes(sandbox_.folder() / target / (target + ".cu"));
    EXPECT_THAT(source, Not(HasSubstr("#include \"")));
    EXPECT_THAT(source, Not(HasSubstr("AUTOTUNE_HOST")));
    EXPECT_THAT(source, HasSubstr("cudaError_t launch("));
    EXPECT_THAT(file_bytes(sandbox_.folder() / target / (target + "_test.cu")),
                HasSubstr("_of_the_test\n"));
    EXPECT_THAT(ended.out, HasSubstr("nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a "));
  }
}

TEST_F(SourceExport, HasEveryLaunchAndTheWorkspaceBetweenThem) {
  predict("reduction", "100000");
  const std::string source = exported("reduction", "100000").out;
  EXPECT_THAT(source, HasSubstr("start(reinterpret_cast<const void*>(&reduction_blocks)"));
  EXPECT_THAT(source, HasSubstr("start(reinterpret_cast<const void*>(&reduction_finish)"));
  EXPECT_THAT(source, HasSubstr("static_cast<char*>(workspace) + 0"));
}

TEST_F(SourceExport, MakesTheTensorMapsOfAKernelThatTakesThem) {
  predict("gemm", "512");
  const std::string best = predict("gemm", "512", "--fix KERNEL=fast --fix LOADER=tma");
  sandbox_.done(format("db pin --target gemm --size 512 --config '{}'", best));
  const std::string source = exported("gemm", "512").out;
  EXPECT_THAT(source, HasSubstr("encode(&argument_"));
  EXPECT_THAT(source, HasSubstr("CU_TENSOR_MAP_DATA_TYPE_FLOAT32"));
  EXPECT_THAT(source, Not(HasSubstr("#if KERNEL"))) << "the macros are resolved";
}

TEST_F(SourceExport, SaysWhatIsMissing) {
  predict("vector_add", "4096");
  expect_refused(exported("vector_ad", "4096"), 1, {"vector_ad", "did you mean vector_add"});
  expect_refused(exported("vector_add", "77"), 1, {"size 77 is not tuned", "autotune query"});
  predict("vector_add", "8192");
  expect_refused(sandbox_.run("db export --format source --target vector_add"), 1,
                 {"2 problems", "--size"});
  expect_refused(sandbox_.run("db export --format source"), 2, {"--target"});
}

TEST_F(SourceExport, OfAnAnswerOfTheHostIsRefused) {
  const Ended tuned = sandbox_.run(tune("tiny", "100", "--budget 1 --quiet"));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  expect_refused(exported(manifest_of("tiny"), "100"), 1, {"nothing is tuned there on a GPU"});
}

TEST_F(SourceExport, IsCompiledByNvccAlone) {
  if (sandbox_.run_program({"/bin/sh", "-c", "command -v nvcc"}).status != 0) {
    GTEST_SKIP() << "there is no nvcc on the path";
  }
  predict("reduction", "1000");
  const Ended ended = exported("reduction", "1000", "--output out");
  ASSERT_EQ(ended.status, 0) << ended.err;
  const std::size_t line = ended.out.find("cd out && ");
  const std::string command = ended.out.substr(line, ended.out.find(" && ./", line) - line);
  const Ended built = sandbox_.run_program({"/bin/sh", "-c", command});
  EXPECT_EQ(built.status, 0) << command << '\n' << built.err;
  EXPECT_EQ(built.err, "");
}

// Sources that a program writes.

constexpr const char* kManifest = R"toml(manifest = 2
name = "twice"
generate = ["sh", "gen.sh", "2"]
source = "twice.cu"
sizes = ["N"]
parameters.BLOCK = [1]
arguments.x = { type = "i32", length = "N" }
arguments.y = { type = "i32", length = "N", role = "output" }
launch = { grid = "N", block = "BLOCK", arguments = ["x", "y"] }
kernels.twice = {}
reference.kernels.right = {}
)toml";

constexpr const char* kGenerator = R"(echo "a remark" >&2
cat <<END
extern "C" __global__ void twice(const int* x, int* y) { y[blockIdx.x] = $1 * x[blockIdx.x]; }
extern "C" __global__ void right(const int* x, int* y) { y[blockIdx.x] = 2 * x[blockIdx.x]; }
END
)";

class GeneratedSource : public ::testing::Test {
 protected:
  GeneratedSource() : manifest_(sandbox_.write("twice.target.toml", kManifest)) {
    sandbox_.write("gen.sh", kGenerator);
  }

  Ended check() const { return sandbox_.run(format("check {} --device host", manifest_.string())); }
  std::string source() const { return file_bytes(sandbox_.folder() / "twice.cu"); }

  Sandbox sandbox_;
  std::filesystem::path manifest_;
};

TEST_F(GeneratedSource, IsWrittenWhereItDiffersAndCompiled) {
  const Ended first = check();
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("twice.cu has changed: it is what sh printed"));
  EXPECT_THAT(source(), HasSubstr("y[blockIdx.x] = 2 * x"));
  EXPECT_THAT(source(), Not(HasSubstr("a remark")));
  EXPECT_THAT(check().err, Not(HasSubstr("has changed")));
  sandbox_.write("gen.sh", std::string(kGenerator) + "echo // more\n");
  EXPECT_THAT(check().err, HasSubstr("has changed"));
}

TEST_F(GeneratedSource, IsRefreshedBeforeTuning) {
  sandbox_.done(format("tune --target {} --sizes 10 --device host", manifest_.string()));
  EXPECT_THAT(source(), HasSubstr("__global__"));
}

TEST_F(GeneratedSource, FailuresShowWhatTheProgramSaid) {
  sandbox_.write("gen.sh", "echo no such shape >&2\nexit 3\n");
  EXPECT_THAT(check().err, HasSubstr("generate: sh failed with status 3:\nno such shape"));
  sandbox_.write("gen.sh", "");
  EXPECT_THAT(check().err, HasSubstr("printed nothing: it prints the source to stdout"));
  sandbox_.write("gen.sh", "exec yes\n");
  EXPECT_THAT(check().err, HasSubstr("generate: sh printed more than 16.00 MiB and was killed"));
  EXPECT_EQ(source(), "");
  std::string text = kManifest;
  text.replace(text.find("\"sh\""), 4, "\"shh\"");
  sandbox_.write("twice.target.toml", text);
  EXPECT_THAT(check().err, HasSubstr("generate: there is no program shh"));
}

// autotune db export --embed: the header compiles alone, finds its rows, and launches as it should.

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

  void tune(const std::string& device, const Words& more = {}) {
    Words words = format(
        "tune --target gemm --sizes 128,M=1,N=64,K=64 --device '{}' --budget 4 --quiet", device);
    words += more;
    sandbox_.done(words);
  }

  Ended run_export(const Words& more) {
    return sandbox_.run(Words("db export --format cpp --embed") + more);
  }

  /// Compiles a program of the sandbox beside the header.
  Ended compile(const std::string& source, const Words& more = {}) {
    Words words = {AUTOTUNE_TEST_CXX,
                   "-std=c++17",
                   "-Wall",
                   "-Wextra",
                   "-Werror",
                   std::string("-I") + AUTOTUNE_TEST_CUDA_INCLUDE,
                   "-I" + sandbox_.folder().string(),
                   source,
                   "-o",
                   (sandbox_.folder() / "program").string()};
    words += more;
    return sandbox_.run_program(words);
  }

  Sandbox sandbox_;
};

TEST_F(Embed, TheHeaderCompilesAloneAndFindsAndLaunchesItsRows) {
  tune("model:h200");
  const Ended exported = run_export("--target gemm --output gemm_tuned.hpp");
  ASSERT_EQ(exported.status, 0) << exported.err;
  const Ended built = compile(sandbox_.write("driver.cpp", kFakeDriver).string());
  ASSERT_EQ(built.status, 0) << built.err;
  EXPECT_EQ(sandbox_.run_program({(sandbox_.folder() / "program").string()}).out, "right\n");
}

TEST_F(Embed, EqualCubinsAreStoredOnce) {
  tune("model:h200");
  for (const char* size : {"128", "1x64x64"}) {
    sandbox_.done(format("db pin --target gemm --size {} --config KERNEL=tiled", size));
  }
  const Ended exported = run_export("--target gemm");
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(count_of("unsigned char k", exported.out), 1u);
  EXPECT_EQ(count_of("\"KERNEL=tiled", exported.out), 2u);
}

TEST_F(Embed, WhatCannotBeEmbeddedIsRefused) {
  tune("model:h200", "--set layout=NT");
  expect_refused(run_export({}), 2, {"db export needs --target"});
  expect_refused(sandbox_.run("db export --embed --target gemm"), 2,
                 {"--embed is for --format cpp, not jsonl"});
  tune("model:h200", "--set layout=TN");
  expect_refused(run_export("--target gemm"), 2,
                 {"one combination of settings", "choose with --set"});
  EXPECT_EQ(run_export("--target gemm --set layout=NT").status, 0);
  tune("model:h200");
  EXPECT_EQ(run_export("--target gemm").status, 0);  // with the default settings
}

TEST_F(Embed, AnswersOfTheHostAreLeftOut) {
  sandbox_.done(autotune::testing::tune("tiny", "100", "--budget 2"));
  expect_refused(run_export("--target @tiny"), 1, {"nothing is tuned there on a GPU"});
}

/// The example, on a GPU.
TEST_F(Embed, TheExampleIsRightOnAGpu) {
  if (sandbox_.run("list devices").out.find("cuda:0") == std::string::npos) {
    GTEST_SKIP() << "there is no GPU here";
  }
  tune("cuda", "--no-baseline");
  ASSERT_EQ(run_export("--target gemm --output gemm_tuned.hpp").status, 0);
  const Ended built = compile(source_folder().string() + "/examples/embedded/embedded_gemm.cpp",
                              {"-l:libcuda.so.1"});
  ASSERT_EQ(built.status, 0) << built.err;
  const Ended ended = sandbox_.run_program({(sandbox_.folder() / "program").string()});
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("128x128x128"));
}

}  // namespace
}  // namespace autotune::testing
