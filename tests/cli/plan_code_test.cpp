// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kernel_export.hpp"

#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

Scalar real(double value, const char* name = "", ElementType type = ElementType::f32) {
  return {.type = type, .real = value, .name = name};
}

/// One launch of `add(x, y, …)`, with these further arguments.
class PlanCodeTest : public ::testing::Test {
 protected:
  PlanCodeTest() {
    Launch launch{.entry = "add", .grid = {4, 2, 1}, .block = {128, 1, 1}};
    launch.arguments = {BufferRef{0}, BufferRef{1}};
    plan_.launches = {launch};
  }

  std::string code(std::vector<std::string> variables = {}, bool has_absolute = false) const {
    return statements({.buffers = buffers_,
                       .plan = plan_,
                       .launches = plan_.launches,
                       .variables = std::move(variables),
                       .has_absolute = has_absolute,
                       .source = source_});
  }
  void pass(const Argument& argument) { plan_.launches.front().arguments.push_back(argument); }

  std::vector<BufferSpec> buffers_{{.name = "x", .type = ElementType::f64, .length = 100},
                                   {.name = "y", .length = 100}};
  LaunchPlan plan_;
  std::string source_;
};

TEST_F(PlanCodeTest, ALaunchHasItsExtentsAndBuffers) {
  plan_.launches.front().dynamic_shared_bytes = 512;
  const std::string text = code();
  EXPECT_THAT(text, HasSubstr("void* arguments[] = {&memory[0], &memory[1]};"));
  EXPECT_THAT(text, HasSubstr("reinterpret_cast<const void*>(&add), dim3(4, 2, 1),\n"
                              "              dim3(128, 1, 1), dim3(1, 1, 1), 512, false, "));
  EXPECT_TRUE(text.ends_with("  return cudaSuccess;\n"));
}

TEST_F(PlanCodeTest, OnlyALaterLaunchStartsEarly) {
  plan_.launches.front().starts_early = true;
  plan_.launches.push_back(plan_.launches.front());
  plan_.launches.back().entry = "add_again";
  const std::string text = code();
  const std::size_t second = text.find("&add_again");
  EXPECT_THAT(text.substr(0, second), HasSubstr(", 0, false, false, arguments"));
  EXPECT_THAT(text.substr(second), HasSubstr(", 0, true, false, arguments"));
}

TEST_F(PlanCodeTest, AScalarIsAValueOrAVariableOfTheCaller) {
  pass(real(2.5, "alpha"));
  pass(Scalar{.type = ElementType::i64, .integer = 7});
  const std::string text = code();
  EXPECT_THAT(text, HasSubstr("float argument_2 = 2.5;\n"));
  EXPECT_THAT(text, HasSubstr("long long argument_3 = 7LL;\n"));
  EXPECT_THAT(text, HasSubstr("&memory[1], &argument_2, &argument_3}"));
  const std::string with_variable = code({"alpha"});
  EXPECT_THAT(with_variable, HasSubstr("&memory[1], &alpha, &argument_3}"));
  EXPECT_THAT(with_variable, Not(HasSubstr("argument_2")));
}

TEST_F(PlanCodeTest, AStructIsItsBytesAndACooperativeLaunchSaysSo) {
  const Record record{"s", {{real(2.5, "s.by"), 0}, {{ElementType::i32, 3, 0, "s.w[1]"}, 8}}, 12};
  pass(record);
  plan_.launches.front().cooperative = true;
  const std::string text = code({"s.by"});
  EXPECT_THAT(text, HasSubstr("    alignas(16) unsigned char argument_2[12] = {};\n"
                              "    std::memcpy(argument_2 + 0, &s_by, sizeof s_by);\n"
                              "    int argument_2_1 = 3;\n"
                              "    std::memcpy(argument_2 + 8, &argument_2_1, "
                              "sizeof argument_2_1);\n"));
  EXPECT_THAT(text, HasSubstr("&memory[1], argument_2};"));
  EXPECT_THAT(text, HasSubstr(", 0, false, true, arguments"));
  EXPECT_EQ(variable_name("s.w[1].x"), "s_w_1_x");
}

TEST_F(PlanCodeTest, ANegativeScalarLosesItsSignForMagnitudes) {
  pass(real(-2));
  pass(real(3));
  EXPECT_THAT(code(), HasSubstr("float argument_2 = -2;\n"));
  const std::string text = code({}, true);
  EXPECT_THAT(text, HasSubstr("float argument_2 = absolute ? 2 : -2;\n"));
  EXPECT_THAT(text, HasSubstr("float argument_3 = 3;\n"));
}

TEST_F(PlanCodeTest, ATensorMapIsEncodedFirst) {
  pass(TensorMap{
      .buffer = 0, .dims = {64, 32}, .strides = {512}, .box = {16, 8}, .swizzle_bytes = 128});
  const std::string text = code();
  EXPECT_THAT(text, HasSubstr("argument_2_dims[] = {64, 32}, argument_2_strides[] = {512, 0};"));
  EXPECT_THAT(text, HasSubstr("argument_2_box[] = {16, 8};"));
  EXPECT_THAT(text, HasSubstr("memory[0], CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2,"));
  EXPECT_THAT(text, HasSubstr("CU_TENSOR_MAP_SWIZZLE_128B"));
  EXPECT_LT(text.find("encode("), text.find("start("));
}

TEST_F(PlanCodeTest, TheTypeOfAMapOfWorkspaceIsTheWorkspaces) {
  plan_.workspace = {{.name = "w", .type = ElementType::bf16, .length = 64}};
  pass(TensorMap{.buffer = 2, .dims = {64}, .strides = {}, .box = {16}});
  EXPECT_THAT(code(), HasSubstr("memory[2], CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 1,"));
  EXPECT_THAT(code(), HasSubstr("CU_TENSOR_MAP_SWIZZLE_NONE"));
}

TEST_F(PlanCodeTest, OnlyAPlanWithTensorMapsNeedsEncode) {
  EXPECT_THAT(launch_functions(plan_), HasSubstr("cudaError_t start("));
  EXPECT_THAT(launch_functions(plan_), Not(HasSubstr("cudaError_t encode(")));
  plan_.checks = plan_.launches;
  plan_.checks.front().arguments.push_back(TensorMap{});
  EXPECT_THAT(launch_functions(plan_), HasSubstr("cudaError_t encode("));
}

TEST_F(PlanCodeTest, ATextureIsRefused) {
  pass(Texture{});
  EXPECT_THAT([&] { code(); }, ThrowsMessage<Error>(HasSubstr("add takes a texture")));
}

TEST_F(PlanCodeTest, AnOptionalConstantIsCopiedIfTheSourceDeclaresIt) {
  plan_.constants = {{.buffer = 1, .symbol = "filter", .optional = true}};
  EXPECT_THAT(code(), Not(HasSubstr("cudaMemcpyToSymbolAsync")));
  source_ = "__constant__ float filters[100];";
  EXPECT_THAT(code(), Not(HasSubstr("cudaMemcpyToSymbolAsync"))) << "another name";
  source_ = "__constant__ float filter[100];";
  EXPECT_THAT(code(), HasSubstr("cudaMemcpyToSymbolAsync(::filter, memory[1], 400, 0, "));
  source_ = "";
  plan_.constants.front().optional = false;
  EXPECT_THAT(code(), HasSubstr("cudaMemcpyToSymbolAsync(::filter"));
}

TEST(ValueText, IsCpp) {
  EXPECT_EQ(value_text(real(0.1)), "0.10000000000000001");
  EXPECT_EQ(value_text(real(2.5, "", ElementType::f16)), "__float2half(2.5)");
  EXPECT_EQ(value_text(real(2.5, "", ElementType::bf16)), "__float2bfloat16(2.5)");
  EXPECT_EQ(value_text({.type = ElementType::i32, .integer = -7}), "-7");
  EXPECT_EQ(value_text({.type = ElementType::i64, .integer = 7}), "7LL");
}

TEST(WorkspaceOffsets, AreMultiplesOf1024AndEndWithTheSize) {
  LaunchPlan plan;
  EXPECT_THAT(workspace_offsets(plan), ElementsAre(0));
  plan.workspace = {{.name = "a", .type = ElementType::f32, .length = 256},
                    {.name = "b", .type = ElementType::f64, .length = 129},
                    {.name = "c", .type = ElementType::i8, .length = 1}};
  EXPECT_THAT(workspace_offsets(plan), ElementsAre(0, 1024, 3072, 4096));
}

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
