// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy against published tables and hand-worked cases.
#include "tuner/model/occupancy.hpp"

#include <algorithm>

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

// cudaOccupancyMaxActiveClusters on an H200: clusters of 2 to 16, with 1 to 8 blocks on a
// multiprocessor.
constexpr int kH200[15][8] = {
    {66, 132, 198, 264, 330, 396, 462, 528}, {39, 79, 124, 163, 203, 248, 287, 327},
    {30, 62, 92, 124, 154, 186, 216, 248},   {22, 47, 69, 94, 124, 146, 171, 193},
    {17, 39, 62, 79, 101, 124, 141, 163},    {15, 32, 47, 69, 84, 101, 124, 139},
    {15, 30, 45, 62, 77, 92, 107, 124},      {9, 23, 37, 51, 60, 74, 88, 102},
    {7, 21, 30, 44, 58, 65, 79, 88},         {7, 16, 28, 37, 51, 58, 72, 81},
    {7, 16, 28, 37, 44, 58, 65, 74},         {7, 14, 23, 30, 42, 51, 58, 67},
    {7, 14, 21, 30, 37, 44, 58, 65},         {7, 14, 21, 28, 37, 44, 51, 58},
    {7, 14, 21, 28, 35, 42, 49, 58},
};
const std::vector<int> kH200Groups = {2, 2, 2, 2, 8, 16, 16, 16, 16, 16, 18, 18};

std::vector<int> found_again(const std::vector<int>& groups, int largest) {
  return cluster_groups(
      largest, [&](int cluster, int blocks) { return resident_clusters(groups, cluster, blocks); });
}

TEST(ClusterGroups, CountClustersAsTheDriverOfAnH200Does) {
  for (int cluster = 2; cluster <= 16; ++cluster) {
    for (int blocks = 1; blocks <= 8; ++blocks) {
      EXPECT_EQ(resident_clusters(kH200Groups, cluster, blocks), kH200[cluster - 2][blocks - 1])
          << cluster << " blocks a cluster, " << blocks << " a multiprocessor";
    }
  }
}

TEST(ClusterGroups, AMultiprocessorHoldsEightBlocksOfClusters) {
  EXPECT_EQ(resident_clusters(kH200Groups, 16, 9), 58);
  EXPECT_EQ(resident_clusters(kH200Groups, 2, 32), 528);
}

TEST(ClusterGroups, AreFoundFromTheDriversOwnAnswers) {
  const std::vector<int> found = cluster_groups(
      16, [](int cluster, int blocks) { return kH200[cluster - 2][std::min(blocks, 8) - 1]; });
  EXPECT_EQ(found, kH200Groups);
}

TEST(ClusterGroups, AreFoundAgainFromTheCounts) {
  for (const std::vector<int>& groups :
       std::vector<std::vector<int>>{kH200Groups,
                                     {16, 16, 16, 16, 16, 16, 18, 18},
                                     {14, 16, 16, 16, 16, 18, 18, 18},
                                     {16, 18, 18, 18, 18, 20, 20, 20},
                                     {7, 7},
                                     {2}}) {
    EXPECT_EQ(found_again(groups, 16), groups) << testing::PrintToString(groups);
  }
  EXPECT_THAT(found_again({14, 14, 14, 16, 16, 16}, 8), ElementsAre(14, 14, 14, 16, 16, 16));
}

TEST(ClusterGroups, AnswersThatNoArrangementGivesLeaveThemUnknown) {
  EXPECT_THAT(cluster_groups(16, [](int, int) { return -1; }), IsEmpty());
  EXPECT_THAT(cluster_groups(16, [](int cluster, int) { return 100 - cluster; }), IsEmpty());
}

struct PublishedOccupancy {
  const char* kernel;
  int threads, registers, shared_bytes;
  int blocks, warps;
  double percent;
  std::optional<Limit> limiter;  // where the text names one
};

// Kernels of a course report on a GeForce GT 240, blocks of 8x8, 16x16 and 22x22 threads.
constexpr PublishedOccupancy kGt240[] = {
    {"v2", 64, 10, 44, 8, 16, 50, Limit::blocks},
    {"v2", 256, 10, 44, 4, 32, 100, Limit::warps},
    {"v2", 484, 10, 44, 2, 32, 100, std::nullopt},
    {"v3", 64, 12, 556, 8, 16, 50, Limit::blocks},
    {"v3", 256, 12, 2092, 4, 32, 100, Limit::warps},
    {"v3", 484, 13, 3916, 2, 32, 100, std::nullopt},
    {"v4a", 64, 13, 556, 8, 16, 50, Limit::blocks},
    {"v4a", 256, 13, 2092, 4, 32, 100, std::nullopt},
    {"v4b", 64, 14, 1068, 8, 16, 50, Limit::blocks},
    {"v4b", 256, 14, 4140, 3, 24, 75, Limit::shared_memory},
    {"v5", 64, 23, 1068, 8, 16, 50, Limit::blocks},
    {"v5", 256, 34, 4140, 1, 8, 25, Limit::registers},
};

TEST(Occupancy, Gt240RowsAreThePublishedOnes) {
  for (const PublishedOccupancy& row : kGt240) {
    const Occupancy result =
        occupancy(find_gpu("gt240"), {.threads = row.threads,
                                      .registers = row.registers,
                                      .static_shared_bytes = row.shared_bytes});
    SCOPED_TRACE(std::string(row.kernel) + " " + std::to_string(row.threads));
    EXPECT_EQ(result.active_blocks, row.blocks);
    EXPECT_EQ(result.active_warps, row.warps);
    EXPECT_DOUBLE_EQ(result.fraction * 100, row.percent);
    if (row.limiter) {
      EXPECT_THAT(result.limiters(), Contains(*row.limiter));
    }
  }
}

TEST(Occupancy, K80VectorAdditionIsThePublishedOne) {
  const int rows[][2] = {{1024, 64}, {512, 64}, {256, 64}, {128, 64}, {64, 32}, {32, 16}};
  for (const auto& [block, warps] : rows) {
    const Occupancy result = occupancy(find_gpu("k80"), {.threads = block, .registers = 10});
    EXPECT_EQ(result.active_warps, warps) << block;
    EXPECT_DOUBLE_EQ(result.fraction, warps / 64.0) << block;
  }
  EXPECT_THAT(occupancy(find_gpu("k80"), {.threads = 64, .registers = 10}).limiters(),
              ElementsAre(Limit::blocks));
}

TEST(Occupancy, EveryLimitIsGivenAndTheBindingOnesNamed) {
  // 256 threads of 128 registers: 8 warps of 4096, 16 warps in 65536 registers; 40 KiB + 1 KiB.
  const Occupancy result = occupancy(
      find_gpu("h200"), {.threads = 256, .registers = 128, .dynamic_shared_bytes = 113 << 10});
  EXPECT_EQ(result.limit(Limit::warps), 8);
  EXPECT_EQ(result.limit(Limit::blocks), 32);
  EXPECT_EQ(result.limit(Limit::registers), 2);
  EXPECT_EQ(result.limit(Limit::shared_memory), 2);
  EXPECT_EQ(result.limit(Limit::barriers), 64);
  EXPECT_EQ(result.limit(Limit::clusters), kUnlimited);
  EXPECT_EQ(result.active_threads, 512);
  EXPECT_EQ(result.registers_per_block, 32768);
  EXPECT_EQ(result.shared_per_block, 114 << 10);
  EXPECT_THAT(result.limiters(), ElementsAre(Limit::registers, Limit::shared_memory));
}

TEST(Occupancy, ABrokenLimitLeavesNoBlockAndNamesItself) {
  const GpuSpec& h200 = find_gpu("h200");
  EXPECT_THAT(occupancy(h200, {.threads = 1025, .registers = 16}).limiters(),
              ElementsAre(Limit::warps));
  EXPECT_THAT(occupancy(h200, {.threads = 32, .registers = 256}).limiters(),
              ElementsAre(Limit::registers));
  EXPECT_THAT(occupancy(h200, {.threads = 32, .static_shared_bytes = (227 << 10) + 1}).limiters(),
              ElementsAre(Limit::shared_memory));
  EXPECT_EQ(occupancy(h200, {.threads = 32, .static_shared_bytes = 227 << 10}).active_blocks, 1);
  EXPECT_EQ(occupancy(h200, {.threads = 0}).active_blocks, 0);
}

TEST(Occupancy, FermiAllocatesWarpsInPairs) {
  // 63 registers: 2016 a warp -> 2048, 16 warps. Blocks of 5 warps: 3 fit.
  const Occupancy result = occupancy(find_gpu("c2050"), {.threads = 160, .registers = 63});
  EXPECT_EQ(result.limit(Limit::registers), 3);
  // 50 registers: 1600 a warp, 20 warps; blocks of 1 warp: the 8 blocks bind.
  EXPECT_EQ(occupancy(find_gpu("c2050"), {.threads = 32, .registers = 50}).active_blocks, 8);
}

TEST(Occupancy, ClustersLieWithinAGroupOfMultiprocessors) {
  // Of the groups 2 x 4, 8, 16 x 5 and 18 x 2 the larger ones hold one cluster of 16: 112 of 132.
  const KernelShape shape{.threads = 1024, .registers = 64, .cluster = 16};
  const Occupancy result = occupancy(find_gpu("h200"), shape);
  EXPECT_EQ(result.active_clusters, 7);
  EXPECT_THAT(result.limiters(), Contains(Limit::clusters));
  KernelShape pair = shape;
  pair.cluster = 2;
  EXPECT_EQ(occupancy(find_gpu("h200"), pair).active_clusters, 66);
  // Each block of a cluster has a multiprocessor of its own; two blocks fit on each.
  const KernelShape four{.threads = 256, .registers = 128, .cluster = 4};
  EXPECT_EQ(occupancy(find_gpu("h200"), four).active_clusters, 4 + 5 * 8 + 2 * 9);
}

TEST(Occupancy, BadInputGetsOneClearSentence) {
  const GpuSpec& h200 = find_gpu("h200");
  EXPECT_EQ(complaint(h200, {.threads = 1024, .registers = 64}), std::nullopt);
  EXPECT_THAT(complaint(h200, {.threads = 0}).value(), HasSubstr("block of 0 threads"));
  EXPECT_THAT(complaint(h200, {.threads = 2048}).value(), HasSubstr("limit of 1024"));
  EXPECT_THAT(complaint(h200, {.threads = 32, .registers = 256}).value(),
              HasSubstr("range of 0 to 255"));
  EXPECT_THAT(complaint(h200, {.threads = 32, .static_shared_bytes = 1 << 20}).value(),
              HasSubstr("232448"));
  EXPECT_THAT(complaint(h200, {.threads = 32, .cluster = 32}).value(), HasSubstr("cluster of 32"));
  EXPECT_THAT(complaint(find_gpu("a100"), {.threads = 32, .cluster = 2}).value(),
              HasSubstr("no clusters"));
  EXPECT_THAT(complaint(h200, {.threads = 32, .carveout = 101}).value(), HasSubstr("carve-out"));
}

std::int64_t none(int) { return 0; }

TEST(BlockChoice, TheLargestOfEquallyGoodBlocksIsTaken) {
  const auto best = best_block(find_gpu("h200"), {.registers = 32}, none);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->threads, 1024);
  EXPECT_EQ(best->occupancy.fraction, 1);
}

TEST(BlockChoice, RegistersThatSplitUnevenlyWantASmallerBlock) {
  // GT 240, 20 registers: 16384 / 20 holds 25 warps, 24 in pairs; 384 threads twice.
  const auto best = best_block(find_gpu("gt240"), {.registers = 20}, none);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->threads, 384);
  EXPECT_EQ(best->occupancy.active_warps, 24);
}

TEST(BlockChoice, RoundsDownToASquareOfAPowerOfTwo) {
  const auto best = best_square_block(find_gpu("gt240"), {.registers = 20}, none);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->threads, 256);
  EXPECT_EQ(best_square_block(find_gpu("h200"), {.registers = 32}, none)->threads, 1024);
}

}  // namespace
}  // namespace autotune
