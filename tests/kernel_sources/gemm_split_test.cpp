// SPDX-License-Identifier: Apache-2.0
// gemm's families on tensor cores, which are legal on GPUs only, compute the right thing on the
// host device too: copies, barriers and wgmma are imitated there, with threads of a block in any
// order.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/text/format.hpp"

namespace autotune::gemm_split_test {
namespace {

using testing::named;
using Text = std::string;
using testing::gemm;
using testing::host;

using Sizes = testing::DistantSizes;

Problem problem(const Sizes& sizes, const NamedValues& settings = {}) {
  return testing::distant_problem(sizes, settings);
}

void expect_right(const Problem& problem, const NamedValues& held) {
  testing::expect_right(gemm(), problem, 0, held);
}

NamedValues tile(std::int64_t bm, std::int64_t bn, const char* a_source) {
  return named(format("KERNEL=split K_GROUPS=1 BM={} BN={} A_SOURCE={}", bm, bn, a_source));
}

NamedValues skinny(std::int64_t rows, std::int64_t tiles, std::int64_t parts,
                   std::int64_t swap = 0) {
  return named(
      format("KERNEL=skinny_split ROWS={} TILES={} K_PARTS={} SWAP={}", rows, tiles, parts, swap));
}

NamedValues streamed(const char* operand, std::int64_t rows, std::int64_t columns,
                     std::int64_t parts = 1) {
  return named(format("KERNEL=streamed STREAMED={} ROWS={} COLUMNS={} K_PARTS={}", operand, rows,
                      columns, parts));
}

NamedValues narrow_tile(const char* a_source) {
  return named(format("KERNEL=split K_GROUPS=1 BN=32 A_SOURCE={}", a_source));
}

NamedValues any_streamed(const char* operand) {
  return {{"KERNEL", Text("streamed")}, {"STREAMED", Text(operand)}};
}

TEST(GemmSplit, IsRightInEveryLayout) {
  expect_right(problem({61, 67, 130}), tile(64, 32, "shared"));
  expect_right(problem({70, 50, 200}, named("layout=NT scale=beta")), tile(64, 48, "registers"));
  expect_right(problem({130, 36, 64}, named("layout=TN pad=1")), tile(128, 32, "registers"));
  expect_right(problem({128, 64, 68}, named("layout=TT scale=alpha")), tile(128, 64, "shared"));
}

TEST(GemmSplit, StreamsEitherOperandInEveryLayout) {
  expect_right(problem({20, 132, 130}), streamed("b", 128, 24));
  expect_right(problem({50, 72, 200}, named("layout=NT scale=beta")), streamed("b", 64, 32));
  expect_right(problem({200, 37, 70}, named("layout=TN scale=alpha")), streamed("a", 192, 32));
  expect_right(problem({130, 64, 68}, named("layout=NT")), streamed("a", 64, 64));
  expect_right(problem({8, 67, 96}, named("layout=TT pad=4")), streamed("b", 64, 8));
}

TEST(GemmSplit, SumsFewRowsInRegisters) {
  expect_right(problem({1, 70, 260}, named("layout=NT")), skinny(8, 1, 1));
  expect_right(problem({13, 36, 1028}, named("layout=NT scale=beta")), skinny(8, 2, 4));
  expect_right(problem({40, 50, 132}, named("layout=NT pad=4")), skinny(32, 1, 1));
  expect_right(problem({47, 9, 576}, named("layout=NT epilogue=bias_relu")), skinny(16, 1, 2, 1));
}

/// Writes floats, and returns the file.
std::filesystem::path file_of(const char* name, const std::vector<float>& values) {
  const std::filesystem::path file =
      std::filesystem::path(AUTOTUNE_BINARY_DIR) / "tests" / format("gemm_split_{}.bin", name);
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
  return file;
}

TEST(GemmSplit, GivesTheSameBitsWhicheverOperandStreamsAndForFewRows) {
  // The host's wgmma and mma.sync add 16 of k in other orders, so that only one of these is not 0.
  // Two of a slab nearly cancel, so that rounding of small products shows.
  constexpr std::int64_t kRows = 9, kColumns = 512, kDepth = 9 * 64;
  std::mt19937 random(46);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> row(kDepth), a, b(kColumns * kDepth);
  for (std::size_t k = 7; k < kDepth; k += 64) {
    row[k] = between(random);
    row[k + 16] = -row[k];
  }
  for (int m = 0; m < kRows; ++m) a.insert(a.end(), row.begin(), row.end());
  std::ranges::generate(b, [&] { return between(random); });
  for (std::size_t i = 7; i < b.size(); i += 64) b[i + 16] = b[i] * (1 + 0x1p-10f);
  DeviceInfo gpu = testing::small_hopper();
  gpu.multiprocessors = 132;  // else k is not divided
  const Problem problem = gemm_split_test::problem({kRows, kColumns, kDepth}, named("layout=NT"));
  Workload workload = workload_of(gemm(), problem, host().info());
  for (BufferSpec& buffer : workload.buffers) {
    if (buffer.name == "A") buffer.file = file_of("a", a);
    if (buffer.name == "B") buffer.file = file_of("b", b);
  }
  const auto workbench = host().open(workload);
  std::vector<std::uint64_t> expected;
  for (const NamedValues& held : {tile(64, 64, "shared"), streamed("b", 64, 16), skinny(8, 1, 1),
                                  skinny(16, 2, 2), skinny(8, 2, 4)}) {
    const ParameterSpace space = space_of(with_fixed(gemm(), held), problem, gpu);
    ASSERT_FALSE(space.empty()) << to_text(held);
    SCOPED_TRACE(to_text(space.at(0)));
    const CompiledKernel kernel = host().compile(source_unit(gemm(), problem, space.at(0), gpu));
    ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
    const RowBits bits =
        workbench->load(kernel, launch_plan(gemm(), problem, space.at(0), gpu))->rows(kColumns);
    EXPECT_EQ(bits.different, 0);
    if (expected.empty()) expected = bits.first;
    EXPECT_EQ(bits.first, expected);
  }
}

/// Of products of K elements of A and B that all have these values.
void expect_right_of(double a, double b, std::int64_t k, const NamedValues& held,
                     const NamedValues& settings = {}) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = gemm_split_test::problem({36, 64, k}, settings);
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
  const NamedValues nt = named("layout=NT");
  expect_right_of(a * 0x1p127, b, 4, skinny(8, 1, 1), nt);
  expect_right_of(a * 0x1p61, b * 0x1p64, 4, skinny(8, 1, 1), nt);
  expect_right_of(a * 0x1p-75, b * 0x1p-74, 4, skinny(8, 1, 1), nt);
  expect_right_of(1.37 * 0x1p-70, 1.71 * 0x1p-61, 4, skinny(8, 1, 1), nt);
}

/// The blocks of each launch of a call with a constant operand.
std::vector<std::int64_t> blocks_with_constant(const char* operand, const NamedValues& held) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem problem = problem_of(gemm(), {{"M", 128}, {"N", 192}, {"K", 256}}, {});
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
  expect_right(problem({20, 60, 1050}), streamed("b", 64, 24, 2));
  expect_right(problem({60, 33, 1060}, named("scale=beta")), streamed("a", 64, 40, 4));
}

TEST(GemmSplitBatches, IsRightInEveryLayoutAndScale) {
  expect_right(problem({61, 67, 130, 3}), tile(64, 32, "shared"));
  expect_right(problem({70, 50, 100, 2}, named("layout=NT scale=beta")), tile(64, 48, "registers"));
  expect_right(problem({130, 36, 64, 2}, named("layout=TN pad=1")), tile(128, 32, "registers"));
  expect_right(problem({40, 33, 68, 5}, named("layout=TT scale=alpha")), tile(64, 32, "shared"));
}

TEST(GemmSplitBatches, SplitsOnlyAIfBIsConstant) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem three = problem({128, 192, 256, 3});
  const ParameterSpace space = space_of(with_fixed(gemm(), tile(64, 32, "shared")), three, gpu);
  const LaunchPlan plan = launch_plan(gemm(), three, space.at(0), gpu);
  EXPECT_EQ(plan.launches.at(0).grid.count(), 3 * 4 * 2 * 3);
  EXPECT_EQ(with_constant(plan, "B").launches.at(0).grid.count(), 2 * 4 * 3);
}

TEST(GemmSplitBatches, PlanesOfTheFirstMatrixAreWrong) {
  const Verdict verdict =
      testing::verdict_of(gemm(), problem({33, 32, 64, 2}), 7, tile(64, 32, "shared"),
                          testing::spoilt("first.next(batch)", "first.next(0)"));
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
}

TEST(GemmSplitDistances, IsRightInEveryLayoutWithRowsOfAnyLength) {
  expect_right(problem({61, 67, 130, 1, 132, 69, 67, 71}), narrow_tile("shared"));
  expect_right(problem({70, 50, 200, 1, 200, 204, 53, 52}, named("layout=NT scale=beta")),
               narrow_tile("registers"));
  expect_right(problem({130, 36, 64, 1, 133, 40, 36, 36}, named("layout=TN scale=alpha")),
               narrow_tile("registers"));
  expect_right(problem({128, 64, 68, 1, 128, 72, 64, 64}, named("layout=TT scale=beta")),
               narrow_tile("shared"));
}

TEST(GemmSplitDistances, IsRightWithEveryEpilogue) {
  const Sizes sizes{61, 66, 70, 1, 70, 68, 66, 68};
  for (const char* epilogue : {"relu", "gelu", "bias", "bias_relu", "bias_gelu"}) {
    expect_right(problem(sizes, {{"epilogue", Text(epilogue)}}), narrow_tile("shared"));
  }
  expect_right(problem(sizes, named("epilogue=bias_relu scale=alpha")), narrow_tile("shared"));
  expect_right(problem({61, 66, 70, 1, 70, 68, 69, 68}, named("epilogue=gelu scale=beta")),
               narrow_tile("shared"));
}

TEST(GemmSplitDistances, StreamsRowsOfAnyAlignedLength) {
  expect_right(problem({20, 66, 130, 1, 131, 68, 66, 67}, named("epilogue=bias_relu")),
               any_streamed("b"));
  expect_right(problem({70, 20, 64, 1, 72, 70, 21, 22}, named("layout=TT scale=beta")),
               any_streamed("a"));
}

TEST(GemmSplitDistances, IsRightForMatricesAtAnyDistance) {
  const NamedValues beta = named("layout=NT scale=beta");
  expect_right(problem({37, 41, 29, 3, 43, 47, 44, 45, 1700, 2001, 1801, 1901}, beta),
               narrow_tile("shared"));
  expect_right(problem({40, 16, 24, 4, 96, 96, 64, 64, 24, 24, 16, 16}, beta),
               narrow_tile("registers"));
  expect_right(problem({40, 24, 24, 3, -1, -1, -1, -1, 0}), narrow_tile("shared"));
  expect_right(problem({20, 33, 24, 2, 24, 40, -1, 36, 500}, named("epilogue=bias_gelu")),
               narrow_tile("shared"));
}

TEST(GemmSplitDistances, IsRightForAddressesOfLittleAlignment) {
  expect_right(
      problem({72, 48, 88, 1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 8, 4}, named("layout=NT")),
      narrow_tile("shared"));
  const Problem unaligned = problem({20, 64, 64, 1, -1, -1, -1, -1, -1, -1, -1, -1, 16, 8});
  EXPECT_TRUE(
      space_of(with_fixed(gemm(), any_streamed("b")), unaligned, testing::small_hopper()).empty())
      << "TMA";
}

TEST(GemmSplitDistances, AreOfEveryPackedConfiguration) {
  const DeviceInfo gpu = testing::small_hopper();
  const Target held = with_fixed(gemm(), named("KERNEL=split"));
  const ParameterSpace packed = space_of(held, problem({96, 128, 256}), gpu);
  const ParameterSpace strided =
      space_of(held, problem({96, 128, 256, 1, 261, 131, 128, 137}), gpu);
  ASSERT_FALSE(packed.empty());
  EXPECT_EQ(strided.size(), packed.size());
  for (std::uint64_t i = 0; i < packed.size(); ++i)
    EXPECT_TRUE(strided.find(packed.at(i))) << to_text(packed.at(i));
}

}  // namespace
}  // namespace autotune::gemm_split_test
