// SPDX-License-Identifier: Apache-2.0
// gemm_strided_split takes configurations of gemm_split's tensor-core family, which is legal on
// GPUs only, and is right on the host device with any leading dimensions and epilogue.
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

const Target& gemm_strided_split() {
  static const Target target = shipped("gemm_strided_split");
  return target;
}

/// Small tiles of the family.
NamedValues split(const char* a_source) {
  return {{"KERNEL", Text("split")},
          {"K_GROUPS", std::int64_t{1}},
          {"BN", std::int64_t{32}},
          {"A_SOURCE", Text(a_source)}};
}

/// The first configuration with these values.
void expect_right(const Sizes& sizes, const NamedValues& settings, const NamedValues& values) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = problem_of(gemm_strided_split(), named(sizes), settings);
  const Target held = with_fixed(gemm_strided_split(), values);
  const ParameterSpace space = space_of(held, problem, gpu);
  ASSERT_FALSE(space.empty()) << problem.text();
  const Configuration configuration = space.at(0);
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
  const CompiledKernel kernel =
      host().compile(source_unit(gemm_strided_split(), problem, configuration, gpu));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const auto workbench = host().open(workload_of(gemm_strided_split(), problem, host().info()));
  const auto candidate =
      workbench->load(kernel, launch_plan(gemm_strided_split(), problem, configuration, gpu));
  const Verdict verdict = candidate->verify(2);
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

TEST(GemmStridedSplit, IsRightInEveryLayoutWithRowsOfAnyLength) {
  expect_right({61, 67, 130, 132, 69, 67, 71}, {}, split("shared"));
  expect_right({70, 50, 200, 200, 204, 53, 52}, {{"layout", Text("NT")}, {"scale", Text("beta")}},
               split("registers"));
  expect_right({130, 36, 64, 133, 40, 36, 36}, {{"layout", Text("TN")}, {"scale", Text("alpha")}},
               split("registers"));
  expect_right({128, 64, 68, 128, 72, 64, 64}, {{"layout", Text("TT")}, {"scale", Text("beta")}},
               split("shared"));
}

TEST(GemmStridedSplit, IsRightWithEveryEpilogue) {
  for (const char* epilogue : {"relu", "gelu", "bias", "bias_relu", "bias_gelu"}) {
    expect_right({61, 66, 70, 70, 68, 66, 68}, {{"epilogue", Text(epilogue)}}, split("shared"));
  }
  expect_right({61, 66, 70, 70, 68, 66, 68},
               {{"epilogue", Text("bias_relu")}, {"scale", Text("alpha")}}, split("shared"));
  expect_right({61, 66, 70, 70, 68, 69, 68}, {{"epilogue", Text("gelu")}, {"scale", Text("beta")}},
               split("shared"));
}

TEST(GemmStridedSplit, StreamsRowsOfAnyAlignedLength) {
  expect_right({20, 66, 130, 131, 68, 66, 67}, {{"epilogue", Text("bias_relu")}},
               {{"KERNEL", Text("streamed")}, {"STREAMED", Text("b")}});
  expect_right({70, 20, 64, 72, 70, 21, 22}, {{"layout", Text("TT")}, {"scale", Text("beta")}},
               {{"KERNEL", Text("streamed")}, {"STREAMED", Text("a")}});
}

/// Whoever has a result of gemm_split has one of gemm_strided_split.
TEST(GemmStridedSplit, HasEveryConfigurationOfGemmSplit) {
  const Target gemm_split = shipped("gemm_split");
  const NamedValues sizes{
      {"M", std::int64_t{96}}, {"N", std::int64_t{128}}, {"K", std::int64_t{256}}};
  const DeviceInfo gpu = testing::small_hopper();
  const ParameterSpace of_gemm_split = space_of(gemm_split, problem_of(gemm_split, sizes, {}), gpu);
  const Problem strided =
      problem_of(gemm_strided_split(), named({96, 128, 256, 260, 132, 128, 136}), {});
  const ParameterSpace space = space_of(gemm_strided_split(), strided, gpu);
  ASSERT_FALSE(of_gemm_split.empty());
  EXPECT_EQ(space.size(), of_gemm_split.size());
  for (std::uint64_t i = 0; i < of_gemm_split.size(); i += 1 + of_gemm_split.size() / 500) {
    EXPECT_TRUE(space.find(of_gemm_split.at(i))) << to_text(of_gemm_split.at(i));
  }
}

}  // namespace
}  // namespace autotune
