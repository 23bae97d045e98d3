// SPDX-License-Identifier: Apache-2.0
// What the cost model says of wgmma's kernels, beside times
// measured on NVIDIA H200s (`autotune tune --target TARGET --fix KERNEL=wgmma`, in bf16, on 23 and
// 24 November 2026).
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune::tensor_core_model_test {
namespace {

struct Tile {
  std::int64_t rows, columns, swap, slab_bytes, stages, warpgroups;
  std::int64_t parts = 1, alternate = 0;
};

const NamedValues kBf16{{"dtype", "bf16"}, {"output", "bf16"}};

double predicted_us(const char* family, std::int64_t m, std::int64_t n, std::int64_t k,
                    const Tile& tile, const NamedValues& others, const NamedValues& settings) {
  const Target& target = testing::gemm();
  const Problem problem = problem_of(target, {{"M", m}, {"N", n}, {"K", k}}, settings);
  NamedValues fixed = testing::wgmma_tile(tile.rows, tile.columns, tile.swap, family);
  fixed.insert(fixed.end(), {{"SLAB_BYTES", tile.slab_bytes},
                             {"STAGES", tile.stages},
                             {"WARPGROUPS", tile.warpgroups},
                             {"K_PARTS", tile.parts},
                             {"ALTERNATE", tile.alternate},
                             {"GROUP", 1}});
  fixed.insert(fixed.end(), others.begin(), others.end());
  return testing::predicted_us(for_speed(target, fixed), problem, "h200");
}

double predicted_us(std::int64_t m, std::int64_t n, std::int64_t k, const Tile& tile,
                    std::int64_t pad = 0, const char* by_threads = "none") {
  return predicted_us("wgmma", m, n, k, tile,
                      {{"PAD_LINES", pad}, {"BY_THREADS", by_threads}, {"BESIDE", 1}, {"BELOW", 1}},
                      kBf16);
}

double predicted_us_of_shared(const Tile& tile, std::int64_t beside, std::int64_t below) {
  return predicted_us(
      "wgmma", 1000, 1000, 1000, tile,
      {{"PAD_LINES", 0}, {"BY_THREADS", "none"}, {"BESIDE", beside}, {"BELOW", below}}, kBf16);
}

double predicted_us_by_tf32(std::int64_t size, const Tile& tile, const NamedValues& others = {}) {
  return predicted_us("wgmma_along_k", size, size, size, tile, others, {{"math", "tf32"}});
}

void expect_near(double predicted, double measured) {
  testing::expect_near(predicted, measured, 1.35);
}

TEST(Gemm16Model, SizesAsAWholeAreNear) {
  expect_near(predicted_us(512, 512, 512, {64, 32, 1, 128, 8, 1}), 3.07);
  expect_near(predicted_us(2048, 2048, 2048, {128, 128, 0, 128, 6, 2}), 23.1);
  expect_near(predicted_us(2048, 2048, 2048, {128, 128, 0, 128, 6, 1}), 22.4);
  expect_near(predicted_us(2048, 2048, 2048, {128, 256, 0, 128, 3, 2}), 23.1);
  expect_near(predicted_us(2048, 2048, 2048, {128, 128, 0, 128, 4, 2, 1, 1}), 22.5);
  expect_near(predicted_us(4096, 4096, 4096, {128, 128, 1, 128, 6, 1}), 169);
}

TEST(Gemm16Model, LinesThatCrossThoseOfTheCacheArePaddedWithGain) {
  const double padded = predicted_us(1000, 1000, 1000, {128, 64, 1, 128, 5, 1}, 1);
  const double plain = predicted_us(1000, 1000, 1000, {128, 64, 1, 128, 5, 1});
  expect_near(padded, 8.66);
  expect_near(plain, 10.6);
  EXPECT_LT(padded, plain);
}

TEST(Gemm16Model, LinesBetweenSectorsAreCopiedByThreadsWithGain) {
  const Tile tile{128, 64, 0, 128, 6, 1};
  const double by_threads = predicted_us(1000, 1000, 1000, tile, 0, "rows");
  expect_near(by_threads, 7.74);
  expect_near(predicted_us(1000, 1000, 1000, {64, 128, 0, 128, 5, 1}, 0, "both"), 7.85);
  EXPECT_LT(by_threads, predicted_us(1000, 1000, 1000, tile));
  EXPECT_LT(by_threads, predicted_us(1000, 1000, 1000, tile, 1));
}

TEST(Gemm16Model, LinesBetweenSectorsAreCopiedForSeveralBlocksWithGain) {
  const double for_four = predicted_us_of_shared({128, 72, 1, 128, 6, 1}, 2, 4);
  expect_near(for_four, 6.80);
  expect_near(predicted_us_of_shared({128, 72, 1, 128, 5, 1}, 2, 2), 7.01);
  EXPECT_LT(for_four, predicted_us(1000, 1000, 1000, {128, 64, 0, 128, 6, 1}, 0, "rows"));
}

TEST(Gemm16Model, LinesOfWholeSectorsAreNotThatSlow) {
  expect_near(predicted_us(1008, 1008, 1008, {64, 128, 0, 128, 4, 1}), 6.61);
  EXPECT_LT(predicted_us(1008, 1008, 1008, {64, 128, 0, 128, 4, 1}),
            predicted_us(1000, 1000, 1000, {64, 128, 0, 128, 4, 1}));
}

TEST(Gemm16Model, ColumnsAcrossKInNarrowBoxesAreSlow) {
  EXPECT_GT(predicted_us(2048, 2048, 2048, {128, 144, 0, 128, 6, 2}), 40);  // 54
}

TEST(Gemm16Model, TilesThatAreMostlyEmptyCostNoInstructions) {
  expect_near(predicted_us(1, 4096, 4096, {64, 16, 1, 128, 8, 1}), 7.80);
}

TEST(Gemm16Model, FewRowsWantTwoParts) {
  const double deep = predicted_us(64, 4096, 4096, {64, 64, 1, 256, 4, 1});
  expect_near(deep, 9.02);
  const double halves = predicted_us(64, 4096, 4096, {64, 64, 1, 256, 4, 1, 2});
  expect_near(halves, 7.68);
  EXPECT_LT(halves, deep);
}

TEST(GemmTf32Model, PackedAndLoadedRowsAreNear) {
  expect_near(predicted_us_by_tf32(512, {64, 32, 1, 128, 8, 1}, {{"ROWS_ACROSS", 0}}), 5.03);
  expect_near(predicted_us_by_tf32(2048, {128, 128, 1, 128, 5, 2}, {{"ROWS_ACROSS", 1}}), 57.1);
  expect_near(predicted_us_by_tf32(2048, {128, 128, 0, 128, 5, 2}), 60.2);
  EXPECT_GT(predicted_us_by_tf32(512, {64, 16, 0, 128, 3, 1}), 8);  // 9.48
}

TEST(GemmI8Model, PackedOperandsAreNear) {
  expect_near(predicted_us("wgmma_along_k", 1024, 1024, 1024, {64, 128, 0, 128, 8, 1}, {},
                           {{"dtype", "i8"}}),
              6.0);
}

}  // namespace
}  // namespace autotune::tensor_core_model_test
