// SPDX-License-Identifier: Apache-2.0
// What the cost model of gemm says at unusual sizes, beside times measured on an NVIDIA H100 and
// H200 (between ordinary kernels): where most of a tile is padding, and where stores take the time.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/value.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune::gemm_model_test {
namespace {

double predicted_us(std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& fixed,
                    const char* gpu = "h100") {
  const Problem problem = problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}}, {});
  return testing::predicted_us(with_fixed(testing::gemm(), fixed), problem, gpu);
}

NamedValues tiled(int block, int tile, const char* prefetch, const char* layout) {
  return testing::named(format("KERNEL=tiled BLOCK_SIZE={} TILE_SIZE={} PREFETCH={} A_LAYOUT={}",
                               block, tile, prefetch, layout));
}

using testing::expect_near;

TEST(GemmModel, TilesPastTheEdgesAreComputed) {
  expect_near(predicted_us(1, 41, 3292, tiled(16, 4, "register", "padded")), 166.9, 1.5);
  expect_near(predicted_us(1, 41, 605, tiled(16, 4, "register", "padded")), 31.9, 1.5);
  expect_near(predicted_us(1, 7, 65, tiled(16, 8, "shared", "plain")), 10.9, 1.5);
  expect_near(predicted_us(47, 41, 15, tiled(16, 1, "shared", "plain")), 1.22, 1.5);
}

TEST(GemmModel, StoresThatAreApartCostTraffic) {
  const NamedValues naive = {{"KERNEL", "naive"}, {"BLOCK_SIZE", 22}, {"TILE_SIZE", 8}};
  expect_near(predicted_us(3041, 2291, 1, naive), 86.9, 3);
}

TEST(GemmModel, OfFewProductsAResultStoresTakeTheTime) {
  const auto near = [](std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& fixed,
                       double measured) {
    expect_near(predicted_us(m, n, k, fixed, "h200"), measured, 1.5);
  };
  near(1046, 3115, 4, tiled(8, 4, "register", "plain"), 7.43);
  near(1046, 3115, 4, tiled(16, 4, "register", "plain"), 8.15);
  near(1046, 3115, 4, tiled(16, 8, "shared", "padded"), 10.26);
  near(3371, 908, 2, tiled(16, 4, "shared", "plain"), 7.12);
  near(2599, 231, 13, tiled(8, 4, "shared", "plain"), 3.19);
  near(1046, 3115, 4, {{"KERNEL", "naive"}, {"BLOCK_SIZE", 16}, {"TILE_SIZE", 2}}, 7.91);
  const NamedValues fast = parse_named_values(
      "KERNEL=fast BM=128 BN=64 TM=16 TN=4 BK=8 WARP_M=2 K_SLICES=1 STAGES=2 LOADER=async "
      "STATIC_SIZES=1 UNROLL_K=16 MIN_BLOCKS=1 TRANSPOSE=copy PACK=none REDUCTION=none SPLIT_K=1 "
      "RASTER_ROWS=8");
  near(1545, 2716, 3, fast, 11.67);
}

}  // namespace
}  // namespace autotune::gemm_model_test
