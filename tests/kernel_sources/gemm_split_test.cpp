// SPDX-License-Identifier: Apache-2.0
// gemm's families on tensor cores, which are legal on GPUs only, compute the right thing on the
// host device too: copies, barriers and wgmma are imitated there, with threads of a block in any
// order.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using Text = std::string;
using testing::host;

const Target& gemm() {
  static const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  return target;
}

/// The configuration with these values, the first of its space.
void expect_right(const NamedValues& sizes, const NamedValues& settings, const NamedValues& held) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = problem_of(gemm(), sizes, settings);
  const ParameterSpace space = space_of(with_fixed(gemm(), held), problem, gpu);
  ASSERT_FALSE(space.empty()) << problem.text();
  const Configuration configuration = space.at(0);
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
  const CompiledKernel kernel = host().compile(source_unit(gemm(), problem, configuration, gpu));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const auto workbench = host().open(workload_of(gemm(), problem, host().info()));
  const auto candidate = workbench->load(kernel, launch_plan(gemm(), problem, configuration, gpu));
  const Verdict verdict = candidate->verify(2);
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

NamedValues sizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"M", m}, {"N", n}, {"K", k}};
}

NamedValues tile(std::int64_t bm, std::int64_t bn, const char* a_source) {
  return {{"KERNEL", Text("split")},
          {"K_GROUPS", std::int64_t{1}},
          {"BM", bm},
          {"BN", bn},
          {"A_SOURCE", Text(a_source)}};
}

NamedValues streamed(const char* operand, std::int64_t rows, std::int64_t columns,
                     std::int64_t parts = 1) {
  return {{"KERNEL", Text("streamed")},
          {"STREAMED", Text(operand)},
          {"ROWS", rows},
          {"COLUMNS", columns},
          {"K_PARTS", parts}};
}

TEST(GemmSplit, IsRightInEveryLayout) {
  expect_right(sizes(61, 67, 130), {}, tile(64, 32, "shared"));
  expect_right(sizes(70, 50, 200), {{"layout", Text("NT")}, {"scale", Text("beta")}},
               tile(64, 48, "registers"));
  expect_right(sizes(130, 36, 64), {{"layout", Text("TN")}, {"pad", std::int64_t{1}}},
               tile(128, 32, "registers"));
  expect_right(sizes(128, 64, 68), {{"layout", Text("TT")}, {"scale", Text("alpha")}},
               tile(128, 64, "shared"));
}

TEST(GemmSplit, StreamsEitherOperandInEveryLayout) {
  expect_right(sizes(20, 132, 130), {}, streamed("b", 128, 24));
  expect_right(sizes(50, 72, 200), {{"layout", Text("NT")}, {"scale", Text("beta")}},
               streamed("b", 64, 32));
  expect_right(sizes(200, 37, 70), {{"layout", Text("TN")}, {"scale", Text("alpha")}},
               streamed("a", 192, 32));
  expect_right(sizes(130, 64, 68), {{"layout", Text("NT")}}, streamed("a", 64, 64));
  expect_right(sizes(8, 67, 96), {{"layout", Text("TT")}, {"pad", std::int64_t{4}}},
               streamed("b", 64, 8));
}

/// Of products of K elements of A and B that all have these values.
void expect_right_of(double a, double b, std::int64_t k, const NamedValues& held) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = problem_of(gemm(), sizes(36, 64, k), {});
  const ParameterSpace space = space_of(with_fixed(gemm(), held), problem, gpu);
  ASSERT_FALSE(space.empty()) << problem.text();
  SCOPED_TRACE(problem.text() + ": " + to_text(space.at(0)));
  Workload workload = workload_of(gemm(), problem, host().info());
  for (BufferSpec& buffer : workload.buffers) {
    if (buffer.name != "A" && buffer.name != "B") continue;
    buffer.fill = Fill::value;
    buffer.fill_values = {buffer.name == "A" ? a : b};
  }
  const CompiledKernel kernel = host().compile(source_unit(gemm(), problem, space.at(0), gpu));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const Verdict verdict =
      host().open(workload)->load(kernel, launch_plan(gemm(), problem, space.at(0), gpu))->verify();
  EXPECT_EQ(name_of(verdict.outcome), "ok") << a << " * " << b << ": " << verdict.message;
}

TEST(GemmSplit, GivesWhatF32GivesAtBothEndsOfItsRange) {
  const double a = 1 + 0x1p-8 + 0x1p-20, b = 1 + 126.5 / 128 + 0x1p-20;  // planes round them up
  for (const NamedValues& held :
       {tile(64, 32, "shared"), tile(64, 32, "registers"), streamed("b", 64, 32)}) {
    expect_right_of(a * 0x1p127, b, 4, held);          // infinite
    expect_right_of(a * 0x1p63, b * 0x1p64, 1, held);  // 3.396e38
    expect_right_of(-a * 0x1p62, b * 0x1p63, 4, held);
    expect_right_of(a * 0x1p-74, b * 0x1p-73, 1, held);  // subnormal
    expect_right_of(1.37 * 0x1p-70, 1.71 * 0x1p-61, 3, held);
    expect_right_of(0, b, 4, held);
  }
}

/// The blocks of each launch of a call with a constant operand.
std::vector<std::int64_t> blocks_with_constant(const char* operand, const NamedValues& held) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = problem_of(gemm(), sizes(128, 192, 256), {});
  const ParameterSpace space = space_of(with_fixed(gemm(), held), problem, gpu);
  const LaunchPlan plan = launch_plan(gemm(), problem, space.at(0), gpu);
  std::vector<std::int64_t> blocks;
  for (const Launch& launch : with_constant(plan, operand).launches)
    blocks.push_back(launch.grid.count());
  return blocks;
}

TEST(GemmSplit, SplitsAConstantOperandOnce) {
  using Blocks = std::vector<std::int64_t>;
  const NamedValues split = tile(64, 32, "shared");
  EXPECT_EQ(blocks_with_constant("A", split), (Blocks{3 * 4 * 2, 2})) << "not made for it";
  EXPECT_EQ(blocks_with_constant("B", split), (Blocks{2 * 4, 2}));
  EXPECT_EQ(blocks_with_constant("A", streamed("b", 64, 32)), (Blocks{2}));
  EXPECT_EQ(blocks_with_constant("B", streamed("b", 64, 32)), (Blocks{2 * 4, 2}));
}

TEST(GemmSplit, StreamsPartsOfK) {
  expect_right(sizes(20, 60, 1050), {}, streamed("b", 64, 24, 2));
  expect_right(sizes(60, 33, 1060), {{"scale", Text("beta")}}, streamed("a", 64, 40, 4));
}

}  // namespace
}  // namespace autotune
