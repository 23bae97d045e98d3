// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kernel_export.hpp"

#include <gmock/gmock.h>

#include "tests/db/sample.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// add(x, y, alpha) for 100 elements on an H200, with a workspace of 400 bytes.
class KernelExportTest : public ::testing::Test {
 protected:
  KernelExportTest() {
    exported_.entry.device = db::h200();
    exported_.entry.kernel.target = "add";
    exported_.entry.best.key = {"", "", "N=100", "l2=hot launch=graph"};
    exported_.entry.best.configuration = "BLOCK=16";
    exported_.entry.best.median_ns = 2000;
    exported_.entry.best.provenance = "measured";
    exported_.name = "add";
    exported_.buffers = {{.name = "x", .length = 100, .role = Role::input},
                         {.name = "y", .length = 100, .role = Role::output}};
    exported_.scalars = {{.type = ElementType::f32, .real = 2, .name = "alpha"}};
    exported_.plan.workspace = {{.name = "sums", .length = 100, .role = Role::workspace}};
    Launch launch{.entry = "add_kernel", .grid = {7, 1, 1}, .block = {16, 1, 1}};
    launch.arguments = {BufferRef{0}, BufferRef{1}, BufferRef{2}, exported_.scalars[0]};
    exported_.plan.launches = {launch};
    exported_.unit.prelude = "#define BLOCK 16\n#define UNUSED 1\n";
    exported_.unit.text = "extern \"C\" __global__ void add_kernel() { int a[BLOCK]; }\n";
  }

  KernelExport exported_;
};

TEST_F(KernelExportTest, LaunchTakesBuffersScalarsWorkspaceAndStream) {
  EXPECT_EQ(parameters_of(exported_),
            "const float* x, float* y, float alpha, void* workspace, cudaStream_t stream");
  exported_.buffers[0].members = {{}};
  EXPECT_THAT(parameters_of(exported_), HasSubstr("const void* x,")) << "a struct";
}

TEST_F(KernelExportTest, OnlyMacrosThatTheSourceUsesAreDefinedAndThenUndefined) {
  const UnitCode code = code_of(exported_.unit);
  EXPECT_THAT(code.text, HasSubstr("#define BLOCK 16\n"));
  EXPECT_THAT(code.text, Not(HasSubstr("UNUSED")));
  EXPECT_EQ(code.undefines, "#undef BLOCK\n");
}

TEST_F(KernelExportTest, TheSourceSaysWhatItIsAndHowItsTestIsBuilt) {
  const std::string text = kernel_file(exported_);
  EXPECT_THAT(text, ::testing::StartsWith("// add N=100\n// on NVIDIA H200:\n//   BLOCK=16\n"
                                          "// 2.000 us a call, measured (l2=hot launch=graph)\n"));
  EXPECT_THAT(text, HasSubstr("//   " + build_line(exported_) + "\n"));
  EXPECT_THAT(text, HasSubstr("namespace tuned_add {"));
  EXPECT_THAT(text, HasSubstr("reinterpret_cast<const void*>(&add_kernel)"));
  EXPECT_THAT(text, HasSubstr("static_cast<char*>(workspace) + 0"));
  EXPECT_THAT(text, HasSubstr("&memory[2], &alpha}")) << "the caller's alpha";
}

TEST_F(KernelExportTest, HopperHasItsOwnArchitecture) {
  EXPECT_THAT(build_line(exported_), HasSubstr("arch=compute_90a,code=sm_90a"));
  exported_.entry.device.compute_capability = 80;
  exported_.unit.options = {"-maxrregcount=64"};
  EXPECT_THAT(build_line(exported_), HasSubstr("arch=compute_80,code=sm_80 "));
  EXPECT_THAT(build_line(exported_), HasSubstr(" -maxrregcount=64 -o add_test add_test.cu add.cu"));
}

TEST_F(KernelExportTest, TheHeaderDescribesEachPointer) {
  const std::string text = header_file(exported_);
  EXPECT_THAT(text, HasSubstr("constexpr std::size_t kWorkspaceBytes = 1024;\n"));
  EXPECT_THAT(text, HasSubstr("///   x: 100 elements of type f32\n"
                              "///   y: 100 elements of type f32, written\n"));
  EXPECT_THAT(text, HasSubstr("cudaError_t launch(const float* x, "));
  EXPECT_THAT(text, Not(HasSubstr("cudaError_t check(")));
  exported_.plan.checks = exported_.plan.launches;
  EXPECT_THAT(header_file(exported_), HasSubstr("cudaError_t check(const float* x, "));
}

TEST_F(KernelExportTest, SixteenBitTypesBringTheirHeaders) {
  EXPECT_THAT(header_file(exported_), Not(HasSubstr("cuda_fp16.h")));
  exported_.buffers[0].type = ElementType::f16;
  exported_.scalars[0].type = ElementType::bf16;
  EXPECT_THAT(header_file(exported_), HasSubstr("#include <cuda_fp16.h>\n"));
  EXPECT_THAT(header_file(exported_), HasSubstr("#include <cuda_bf16.h>\n"));
  EXPECT_THAT(parameters_of(exported_), HasSubstr("const __half* x"));
}

TEST_F(KernelExportTest, WithoutAReferenceKernelThereIsNoTest) {
  EXPECT_EQ(test_file(exported_), "");
  exported_.workload.reference.launches = exported_.plan.launches;
  exported_.workload.buffers = exported_.buffers;
  exported_.workload.reference_source = exported_.unit;
  EXPECT_THAT(test_file(exported_), HasSubstr("tuned_add::launch("));
}

TEST_F(KernelExportTest, ABaselineThatWasFasterIsNamed) {
  EXPECT_THAT(kernel_file(exported_), Not(HasSubstr("was faster")));
  exported_.entry.best.baseline = {"cublas", "cublasSgemm", 1500, 1490, 1510, true};
  EXPECT_THAT(kernel_file(exported_), HasSubstr("cublasSgemm was faster: 1.500 us\n"));
}

}  // namespace
}  // namespace autotune::cli
