// SPDX-License-Identifier: Apache-2.0
// What the cost model of gemm says of its classic kernels, beside times measured on an NVIDIA H100
// (`bench/lookup`, between ordinary kernels) at sizes where most of a tile is padding.
#include <gtest/gtest.h>

#include "tuner/core/target.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

double predicted_us(std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& fixed) {
  static const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const DeviceInfo device = device_info(find_gpu("h100"));
  const Problem problem = problem_of(target, {{"M", m}, {"N", n}, {"K", k}}, {});
  const ParameterSpace space = space_of(with_fixed(target, fixed), problem, device);
  EXPECT_EQ(space.size(), 1U) << problem.text();
  return CostModel(target, problem, space, device).estimate(0).seconds * 1e6;
}

NamedValues tiled(int block, int tile, const char* prefetch, const char* layout) {
  return {{"KERNEL", "tiled"},
          {"BLOCK_SIZE", block},
          {"TILE_SIZE", tile},
          {"PREFETCH", prefetch},
          {"A_LAYOUT", layout}};
}

void expect_near(double predicted, double measured, double factor) {
  EXPECT_GT(predicted, measured / factor);
  EXPECT_LT(predicted, measured * factor);
}

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

}  // namespace
}  // namespace autotune
