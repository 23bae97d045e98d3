// SPDX-License-Identifier: Apache-2.0
// The best block by occupancy, and the curves of the spreadsheet.
#include "tuner/model/block_choice.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

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

TEST(BlockChoice, SharedMemoryMayDependOnTheBlock) {
  // Two square tiles of f32, one element a thread: 8 bytes a thread never limit on an H200; 120
  // do: 228 KiB hold 1 block of 1024, 1 of 992, …, but 15 of 128.
  const SharedOfBlock much = [](int threads) { return std::int64_t{120} * threads; };
  const auto best = best_block(find_gpu("h200"), {.registers = 32}, much);
  ASSERT_TRUE(best);
  for (int threads = 32; threads <= 1024; threads += 32) {
    const Occupancy other =
        occupancy(find_gpu("h200"),
                  {.threads = threads, .registers = 32, .dynamic_shared_bytes = much(threads)});
    EXPECT_LE(other.active_threads, best->occupancy.active_threads) << threads;
  }
}

TEST(BlockChoice, RoundsDownToASquareOfAPowerOfTwo) {
  const auto best = best_square_block(find_gpu("gt240"), {.registers = 20}, none);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->threads, 256);
  EXPECT_EQ(best_square_block(find_gpu("h200"), {.registers = 32}, none)->threads, 1024);
}

TEST(BlockChoice, NothingFitsWhenEveryBlockAsksForTooMuch) {
  EXPECT_FALSE(best_block(find_gpu("h200"), {.registers = 32}, [](int) { return 1 << 20; }));
}

TEST(BlockChoice, SweepsCoverTheWholeRangeAndPassThroughThePoint) {
  const KernelShape kernel{.threads = 256, .registers = 34, .static_shared_bytes = 4140};
  const GpuSpec& gpu = find_gpu("gt240");
  const auto registers = sweep(gpu, kernel, Swept::registers, none);
  EXPECT_EQ(registers.size(), 124u);
  EXPECT_EQ(registers[33].occupancy.active_warps, 8);
  const auto blocks = sweep(gpu, kernel, Swept::block, none);
  EXPECT_EQ(blocks.back().value, 512);
  const auto shared = sweep(gpu, kernel, Swept::shared, none);
  EXPECT_EQ(shared.front().value, 0);
  EXPECT_EQ(shared.back().value, 16384);
  EXPECT_EQ(shared.back().occupancy.active_blocks, 1);
}

}  // namespace
}  // namespace autotune
