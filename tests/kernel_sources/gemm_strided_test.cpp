// SPDX-License-Identifier: Apache-2.0
// gemm_strided takes configurations of gemm's fast family, which is legal on GPUs only, and is
// right on the host device with any leading dimensions and epilogue.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/kernel_sources/strided_gemm.hpp"

namespace autotune {
namespace {

using Text = std::string;
using testing::host;
using testing::named;
using testing::shipped;
using Sizes = testing::StridedSizes;
using testing::small_gpu;

const Target& gemm_strided() {
  static const Target target = shipped("gemm_strided");
  return target;
}

void expect_right(const Sizes& sizes, const NamedValues& settings, NamedValues held) {
  const DeviceInfo gpu = small_gpu();
  const Problem problem = problem_of(gemm_strided(), named(sizes), settings);
  const ParameterSpace space = space_of(with_fixed(gemm_strided(), held), problem, gpu);
  ASSERT_FALSE(space.empty()) << problem.text();
  const Configuration configuration = space.at(space.size() / 2);
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
  const CompiledKernel kernel =
      host().compile(source_unit(gemm_strided(), problem, configuration, gpu));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const auto workbench = host().open(workload_of(gemm_strided(), problem, host().info()));
  const auto candidate =
      workbench->load(kernel, launch_plan(gemm_strided(), problem, configuration, gpu));
  const Verdict verdict = candidate->verify(2);
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

const NamedValues kFast{{"KERNEL", Text("fast")}};

TEST(GemmStrided, IsRightInEveryLayoutWithRowsOfAnyLength) {
  expect_right({61, 131, 67, 80, 140, 131, 139}, {{"layout", Text("NN")}}, kFast);
  expect_right({61, 131, 67, 67, 69, 133, 131}, {{"layout", Text("NT")}, {"scale", Text("beta")}},
               kFast);
  expect_right({64, 96, 128, 68, 100, 96, 104}, {{"layout", Text("TN")}, {"scale", Text("alpha")}},
               kFast);
  expect_right({64, 96, 128, 64, 132, 100, 96}, {{"layout", Text("TT")}, {"scale", Text("beta")}},
               kFast);
}

TEST(GemmStrided, IsRightWithEveryEpilogue) {
  for (const char* epilogue : {"relu", "bias", "bias_gelu"}) {
    expect_right({61, 132, 64, 64, 132, 132, 136}, {{"epilogue", Text(epilogue)}}, kFast);
  }
  expect_right({33, 50, 40, 40, 50, 50, 60}, {{"epilogue", Text("bias_gelu")}},
               {{"KERNEL", Text("tiled")}});
  expect_right({61, 132, 64, 64, 132, 132, 136},
               {{"epilogue", Text("bias_relu")}, {"scale", Text("alpha")}}, kFast);
  expect_right({61, 132, 64, 64, 132, 140, 136},
               {{"epilogue", Text("gelu")}, {"scale", Text("beta")}}, kFast);
}

TEST(GemmStrided, IsRightWhereSumsMeet) {
  expect_right({64, 128, 256, 260, 128, 128, 132}, {{"epilogue", Text("bias_gelu")}},
               {{"KERNEL", Text("fast")}, {"REDUCTION", Text("workspace")}});
  expect_right({32, 64, 256, 260, 64, 64, 68}, {{"epilogue", Text("relu")}},
               {{"KERNEL", Text("fast")}, {"K_SLICES", std::int64_t{4}}});
}

/// Whoever has a result of gemm has one of gemm_strided.
TEST(GemmStrided, HasEveryConfigurationOfGemm) {
  const Target gemm = shipped("gemm");
  const NamedValues sizes{
      {"M", std::int64_t{96}}, {"N", std::int64_t{128}}, {"K", std::int64_t{256}}};
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  const ParameterSpace of_gemm = space_of(gemm, problem_of(gemm, sizes, {}), gpu);
  const ParameterSpace space =
      space_of(gemm_strided(),
               problem_of(gemm_strided(), named({96, 128, 256, 260, 132, 128, 136}), {}), gpu);
  ASSERT_FALSE(of_gemm.empty());
  for (std::uint64_t i = 0; i < of_gemm.size(); i += 1 + of_gemm.size() / 500) {
    const Configuration configuration = of_gemm.at(i);
    EXPECT_TRUE(space.find(configuration)) << to_text(configuration);
  }
}

}  // namespace
}  // namespace autotune
