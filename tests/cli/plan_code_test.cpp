// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/db_export.hpp"

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

TEST_F(PlanCodeTest, ANegativeScalarLosesItsSignForMagnitudes) {
  pass(real(-2));
  pass(real(3));
  EXPECT_THAT(code(), HasSubstr("float argument_2 = -2;\n"));
  const std::string text = code({}, true);
  EXPECT_THAT(text, HasSubstr("float argument_2 = absolute ? 2 : -2;\n"));
  EXPECT_THAT(text, HasSubstr("float argument_3 = 3;\n"));
}

TEST_F(PlanCodeTest, ATextureIsRefused) {
  pass(Texture{});
  EXPECT_REFUSAL(Error, code(), "add takes a texture");
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

TEST_F(KernelExportTest, OnlyMacrosThatTheSourceUsesAreDefinedAndThenUndefined) {
  const UnitCode code = code_of(exported_.unit);
  EXPECT_THAT(code.text, HasSubstr("#define BLOCK 16\n"));
  EXPECT_THAT(code.text, Not(HasSubstr("UNUSED")));
  EXPECT_EQ(code.undefines, "#undef BLOCK\n");
}

TEST_F(KernelExportTest, HopperHasItsOwnArchitecture) {
  EXPECT_THAT(build_line(exported_), HasSubstr("arch=compute_90a,code=sm_90a"));
  exported_.entry.device.compute_capability = 80;
  exported_.unit.options = {"-maxrregcount=64"};
  EXPECT_THAT(build_line(exported_), HasSubstr("arch=compute_80,code=sm_80 "));
  EXPECT_THAT(build_line(exported_), HasSubstr(" -maxrregcount=64 -o add_test add_test.cu add.cu"));
}

TEST_F(KernelExportTest, ABaselineThatWasFasterIsNamed) {
  EXPECT_THAT(kernel_file(exported_), Not(HasSubstr("was faster")));
  exported_.entry.best.baseline = {"cublas", "cublasSgemm", 1500, 1490, 1510, true};
  EXPECT_THAT(kernel_file(exported_), HasSubstr("cublasSgemm was faster: 1.500 us\n"));
}

}  // namespace
}  // namespace autotune::cli
