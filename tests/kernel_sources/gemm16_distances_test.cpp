// SPDX-License-Identifier: Apache-2.0
// Products in 16 bits with free sizes away from their defaults on the host device, as
// gemm16_test.cpp does it.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm16_distances_test {
namespace {

using Text = std::string;
using testing::wgmma_tile;

using Sizes = testing::DistantSizes;

Problem problem(const Sizes& given, const char* layout, const char* output = "f16",
                const char* scale = "none", const char* epilogue = "none") {
  return testing::distant_problem(given, {{"layout", Text(layout)},
                                          {"output", Text(output)},
                                          {"dtype", Text(output == Text("f32") ? "bf16" : output)},
                                          {"scale", Text(scale)},
                                          {"epilogue", Text(epilogue)}});
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held = {}) {
  testing::expect_right(testing::gemm(), problem, seed, held);
}

const Sizes kOdd{37, 41, 29, 3, 43, 47, 44, 45, 1700, 2001, 1801, 1901};
const Sizes kAligned{72, 48, 88, 2, 96, 96, 48, 56, 9600, 9616, 3504, 4096};

TEST(Gemm16Distances, IsRightInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem(kOdd, "NN", "bf16", "alpha", "bias_relu"), 1);
  expect_right(problem(kAligned, "NT", "f32", "alpha", "bias"), 2);
  expect_right(problem(kOdd, "TN", "f16", "none", "bias_gelu"), 3);
  expect_right(problem(kAligned, "TT", "f16"), 4);
}

TEST(Gemm16Distances, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem(kAligned, "NN", "bf16", "alpha", "bias_relu"), 5, wgmma_tile(64, 48, 0));
  expect_right(problem(kOdd, "NT", "f32", "alpha", "bias"), 6, wgmma_tile(64, 24, 1));
  expect_right(problem(kAligned, "TN", "f16", "none", "bias_gelu"), 7, wgmma_tile(64, 32, 0));
  expect_right(problem(kOdd, "TT", "f16"), 8, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightByWgmmaWhereThreadsCopy) {
  using testing::wgmma_tile_by_threads;
  const Sizes kUneven{72, 48, 88, 2, 104, 104, 48, 56, 9600, 9624, 3504, 4096};
  expect_right(problem(kUneven, "NN", "bf16", "beta"), 13, wgmma_tile_by_threads(64, 48, 0));
  expect_right(problem(kUneven, "TT", "f16"), 14, wgmma_tile_by_threads(64, 32, 1));
  expect_right(problem(kUneven, "TN", "f16"), 15, wgmma_tile_by_threads(64, 32, 0, "rows"));
}

TEST(Gemm16Distances, IsRightByWgmmaWhereBlocksShareCopies) {
  using testing::wgmma_tile_shared;
  const Sizes kUneven{136, 200, 136, 2, 200, 216, 200, 208, 40000, 44000, 27200, 28800};
  expect_right(problem(kUneven, "NN", "bf16", "beta"), 16, wgmma_tile_shared(64, 64, 0, 2, 2));
  expect_right(problem(kUneven, "TT", "f16"), 17, wgmma_tile_shared(64, 64, 1, 2, 2));
}

/// Lines are no multiples of 16 bytes, but their distances are: TMA takes none of them.
TEST(Gemm16Distances, IsRightForLinesThatEndBetweenThoseThatTmaTakes) {
  expect_right(problem({69, 45, 83, 2, 88, 48, 45, 48, 6336, 4096, 3105, 3504}, "NN", "bf16"), 9,
               wgmma_tile(64, 48, 0));
}

/// Heads of attention lie beside each other in rows.
TEST(Gemm16Distances, IsRightForMatricesThatLieRowBesideRow) {
  expect_right(problem({40, 16, 24, 4, 96, 64, 64, 64, 24, 16, 16, 16}, "NN", "f16", "beta"), 10);
  expect_right(problem({40, 16, 24, 4, 96, 64, 64, 64, 24, 16, 16, 16}, "NN"), 11,
               wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightWhereAllProductsShareAMatrix) {
  expect_right(problem({40, 24, 24, 3, -1, -1, -1, -1, 0}, "NN"), 18);
  expect_right(problem({40, 24, 20, 3, 20, 24, 24, 24, 0}, "NT"), 19, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightForAddressesOfLittleAlignment) {
  const Sizes kBytes{72, 48, 88, 1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 4, 2};
  expect_right(problem(kBytes, "NN"), 20);
  expect_right(problem(kBytes, "TN"), 21, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, ResultsThatOverlapAreRefused) {
  const Problem overlapping = problem({8, 8, 8, 2, 8, 8, 8, 8, 64, 64, 64, 63}, "NN");
  EXPECT_THROW(space_of(testing::gemm(), overlapping, testing::small_gpu()), UsageError);
}

}  // namespace
}  // namespace autotune::gemm16_distances_test
