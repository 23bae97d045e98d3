// SPDX-License-Identifier: Apache-2.0
// Products of i8 on the host device, as gemm16_test.cpp does it: packing, mma.sync and wgmma.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm_i8_test {
namespace {

using Text = std::string;
using testing::wgmma_tile_along_k;

void expect_right(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout,
                  std::uint64_t seed, const NamedValues& held = {}) {
  const Problem problem = problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}},
                                     {{"dtype", Text("i8")}, {"layout", Text(layout)}});
  testing::expect_right(testing::gemm(), problem, seed, held);
}

TEST(GemmI8, IsRightInEveryLayoutAlignedAndOdd) {
  expect_right(61, 131, 67, "NN", 1);
  expect_right(64, 96, 128, "NT", 2);
  expect_right(130, 61, 99, "TN", 3);
  expect_right(64, 96, 160, "TT", 4);
}

TEST(GemmI8, IsRightByWgmmaInEveryLayoutAlignedAndOdd) {
  expect_right(80, 136, 200, "NN", 5, wgmma_tile_along_k(64, 48, 0));
  expect_right(61, 67, 131, "NT", 6, wgmma_tile_along_k(64, 32, 1));
  expect_right(72, 64, 256, "TN", 7, wgmma_tile_along_k(64, 64, 1));
  expect_right(61, 40, 67, "TT", 8, wgmma_tile_along_k(64, 16, 0));
}

TEST(GemmI8, IsRightInPartsOfK) {
  expect_right(24, 60, 2100, "NT", 9, testing::with(wgmma_tile_along_k(64, 32, 1), "K_PARTS=2"));
}

TEST(GemmI8, IsRightForSingleElements) {
  expect_right(1, 1, 1, "NN", 10);
  expect_right(1, 1, 1, "TN", 11, wgmma_tile_along_k(64, 8, 1));
}

}  // namespace
}  // namespace autotune::gemm_i8_test
