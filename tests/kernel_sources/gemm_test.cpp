// SPDX-License-Identifier: Apache-2.0
// The fast family of gemm, which is legal on GPUs only, computes the right thing on the host device
// too, where copies happen at the wait and threads of a block in any order: configurations of a GPU
// without tensor copies, for every layout and scaling, at sizes that no tile divides.
#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"

namespace autotune::gemm_test {
namespace {

using testing::gemm;
using testing::named;
using testing::small_gpu;

/// Two configurations of the fast family, from a fixed seed; `held` are parameters with one value.
void expect_right(const NamedValues& sizes, const NamedValues& settings, std::uint64_t seed,
                  NamedValues held = {}, const Target& target = gemm(),
                  const DeviceInfo& gpu = small_gpu()) {
  held.push_back({"KERNEL", "fast"});
  const Problem problem = problem_of(target, sizes, settings);
  for (const std::uint64_t draw : {seed, seed + 1000}) {
    testing::expect_right(gpu, target, problem, draw, held);
  }
}

NamedValues sizes(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {{"M", m}, {"N", n}, {"K", k}};
}

using Text = std::string;

TEST(FastGemm, IsRightInEveryLayout) {
  std::uint64_t seed = 1;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    expect_right(sizes(61, 131, 67), {{"layout", Text(layout)}}, ++seed);
    expect_right(sizes(64, 96, 128), {{"layout", Text(layout)}, {"scale", Text("beta")}}, ++seed);
  }
}

TEST(FastGemm, IsRightForRowsAndColumns) {
  expect_right(sizes(1, 200, 96), {}, 3);
  expect_right(sizes(7, 64, 33), {}, 4);
  expect_right(sizes(100, 1, 50), {}, 5);
  expect_right(sizes(32, 32, 1), {}, 6);
}

TEST(FastGemm, IsRightWithFewRowsStraightFromMemory) {
  const NamedValues direct = named("LOADER=direct");
  expect_right(sizes(1, 200, 96), {}, 13, direct);
  expect_right(sizes(7, 301, 259), named("scale=beta"), 14, direct);
  expect_right(sizes(8, 128, 256), named("layout=TN"), 15, direct);
  expect_right({{"M", 3}, {"N", 130}, {"K", 500}, {"batch", 2}}, named("pad=1"), 16, direct);
}

TEST(FastGemm, IsRightWithTheLastTilesSplit) {
  const NamedValues tail = named("REDUCTION=tail");
  expect_right(sizes(400, 420, 1027), {}, 17, tail);
  expect_right(sizes(420, 440, 1024), named("scale=beta layout=TT"), 18, tail);
}

TEST(FastGemm, IsRightWithClustersThatShareTheSum) {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  gpu.multiprocessors = 16;
  const auto cluster = [](std::int64_t blocks) {
    return named(format("LOADER=async REDUCTION=cluster SPLIT_K={}", blocks));
  };
  expect_right(sizes(33, 47, 1024), {}, 31, cluster(2), gemm(), gpu);
  expect_right(sizes(61, 90, 515), named("scale=beta"), 32, cluster(4), gemm(), gpu);
  expect_right(sizes(48, 64, 2048), named("layout=TN"), 33, cluster(8), gemm(), gpu);
  expect_right(sizes(32, 48, 512), named("dtype=f64"), 34, cluster(4), gemm(), gpu);
}

TEST(FastGemm, IsRightInEveryTypeAndPadding) {
  expect_right(sizes(48, 80, 100), named("dtype=f64"), 7);
  expect_right(sizes(48, 80, 100), named("dtype=i32 pad=1"), 8);
  expect_right(sizes(48, 80, 100), named("pad=4 scale=alpha"), 9);
  expect_right({{"M", 48}, {"N", 80}, {"K", 100}, {"batch", 3}}, {}, 10);
}

TEST(FastGemm, IsRightSplitAndPacked) {
  expect_right(sizes(33, 47, 1024), {}, 11);
  expect_right(sizes(641, 643, 513), {}, 12);
}

/// The swizzle of tensor copies repeats every 8 rows: panels of fewer rows would begin within it.
TEST(FastGemm, HasOnePanelOfFewRowsThroughTensorCopies) {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  const auto count = [&](std::int64_t rows, std::int64_t bk, const char* dtype) {
    const Problem problem = problem_of(gemm(), sizes(rows, 320, 576), {{"dtype", Text(dtype)}});
    const NamedValues held =
        named(format("KERNEL=fast LOADER=tma TRANSPOSE=none BM={} BK={}", rows, bk));
    return space_of(with_fixed(gemm(), held), problem, gpu).size();
  };
  EXPECT_GT(count(4, 32, "f32"), 0u);
  EXPECT_GT(count(8, 64, "f32"), 0u);
  EXPECT_EQ(count(4, 64, "f32"), 0u);
  EXPECT_EQ(count(2, 32, "f64"), 0u);
}

/// What only problems too large for a test have, at a small one.
TEST(FastGemm, IsRightWhereWarpsHelpInAHalfEmptyLastRowOfTiles) {
  Target target = gemm();
  target.constraints.clear();
  const NamedValues held = named(
      "BM=64 BN=64 WARP_M=4 TM=8 TN=4 K_SLICES=1 BK=32 UNROLL_K=16 LOADER=async TRANSPOSE=none");
  const auto with = [&](const char* pack, const char* reduction, std::int64_t split_k) {
    return testing::with(held, format("PACK={} REDUCTION={} SPLIT_K={}", pack, reduction, split_k));
  };
  expect_right(sizes(80, 200, 133), named("scale=beta"), 21, with("none", "none", 1), target);
  expect_right(sizes(96, 70, 64), named("layout=TN"), 22, with("none", "none", 1), target);
  expect_right(sizes(80, 130, 1027), {}, 23, with("transposed", "tail", 8), target);
}

/// Without cp.async threads wait for their copies.
TEST(FastGemm, HasAtMostTwoStagesWithoutAsynchronousCopies) {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 75;
  const Problem problem = problem_of(gemm(), sizes(512, 512, 512), {});
  const auto count = [&](std::int64_t stages) {
    const NamedValues held{{"KERNEL", Text("fast")}, {"LOADER", Text("async")}, {"STAGES", stages}};
    return space_of(with_fixed(gemm(), held), problem, gpu).size();
  };
  EXPECT_GT(count(2), 0u);
  EXPECT_EQ(count(3), 0u);
}

TEST(Gemm, AnOutputThatDoesNotExistIsRefusedWithACure) {
  const Problem problem = problem_of(gemm(), sizes(64, 64, 64), named("output=f16"));
  EXPECT_REFUSAL(Error, space_of(gemm(), problem, small_gpu()), "leave the setting output out");
}

}  // namespace
}  // namespace autotune::gemm_test
