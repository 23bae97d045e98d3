// SPDX-License-Identifier: Apache-2.0
// gemm16_strided on the host device, as gemm16_test.cpp does it.
#include <gtest/gtest.h>

#include <array>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using Text = std::string;
using testing::wgmma_tile;

const Target& gemm16_strided() {
  static const Target target = load_manifest(
      AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm16_strided/gemm16_strided.target.toml");
  return target;
}

/// BATCH, M, N, K, lda, ldb, ldc, ldd, and the distances of matrices.
using Sizes = std::array<std::int64_t, 12>;

Problem problem(const Sizes& given, const char* layout, const char* output = "f16",
                const char* scale = "none", const char* epilogue = "none") {
  NamedValues sizes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    sizes.push_back({gemm16_strided().sizes[i], given[i]});
  }
  return problem_of(gemm16_strided(), sizes,
                    {{"layout", Text(layout)},
                     {"output", Text(output)},
                     {"dtype", Text(output == Text("f32") ? "bf16" : output)},
                     {"scale", Text(scale)},
                     {"epilogue", Text(epilogue)}});
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held = {}) {
  testing::expect_right(gemm16_strided(), problem, seed, held);
}

constexpr Sizes kOdd{3, 37, 41, 29, 43, 47, 44, 45, 1700, 2001, 1801, 1901};
constexpr Sizes kAligned{2, 72, 48, 88, 96, 96, 48, 56, 9600, 9616, 3504, 4096};

TEST(Gemm16Strided, IsRightInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem(kOdd, "NN", "bf16", "beta", "bias_relu"), 1);
  expect_right(problem(kAligned, "NT", "f32", "alpha", "bias"), 2);
  expect_right(problem(kOdd, "TN", "f16", "beta", "bias_gelu"), 3);
  expect_right(problem(kAligned, "TT", "f16"), 4);
}

TEST(Gemm16Strided, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem(kAligned, "NN", "bf16", "beta", "bias_relu"), 5, wgmma_tile(64, 48, 0));
  expect_right(problem(kOdd, "NT", "f32", "alpha", "bias"), 6, wgmma_tile(64, 24, 1));
  expect_right(problem(kAligned, "TN", "f16", "beta", "bias_gelu"), 7, wgmma_tile(64, 32, 0));
  expect_right(problem(kOdd, "TT", "f16"), 8, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Strided, IsRightByWgmmaWhereThreadsCopy) {
  using testing::wgmma_tile_by_threads;
  constexpr Sizes kUneven{2, 72, 48, 88, 104, 104, 48, 56, 9600, 9624, 3504, 4096};
  expect_right(problem(kUneven, "NN", "bf16", "beta"), 13, wgmma_tile_by_threads(64, 48, 0));
  expect_right(problem(kUneven, "TT", "f16"), 14, wgmma_tile_by_threads(64, 32, 1));
  expect_right(problem(kUneven, "TN", "f16"), 15, wgmma_tile_by_threads(64, 32, 0, "rows"));
}

TEST(Gemm16Strided, IsRightByWgmmaWhereBlocksShareCopies) {
  using testing::wgmma_tile_shared;
  constexpr Sizes kUneven{2, 136, 200, 136, 200, 216, 200, 208, 40000, 44000, 27200, 28800};
  expect_right(problem(kUneven, "NN", "bf16", "beta"), 16, wgmma_tile_shared(64, 64, 0, 2, 2));
  expect_right(problem(kUneven, "TT", "f16"), 17, wgmma_tile_shared(64, 64, 1, 2, 2));
}

/// Lines are no multiples of 16 bytes, but their distances are: TMA takes none of them.
TEST(Gemm16Strided, IsRightForLinesThatEndBetweenThoseThatTmaTakes) {
  expect_right(problem({2, 69, 45, 83, 88, 48, 45, 48, 6336, 4096, 3105, 3504}, "NN", "bf16"), 9,
               wgmma_tile(64, 48, 0));
}

/// Heads of attention lie beside each other in rows.
TEST(Gemm16Strided, IsRightForMatricesThatLieRowBesideRow) {
  expect_right(problem({4, 40, 16, 24, 96, 64, 64, 64, 24, 16, 16, 16}, "NN", "f16", "beta"), 10);
  expect_right(problem({4, 40, 16, 24, 96, 64, 64, 64, 24, 16, 16, 16}, "NN"), 11,
               wgmma_tile(64, 16, 0));
}

TEST(Gemm16Strided, ResultsThatOverlapAreRefused) {
  const Problem overlapping = problem({2, 8, 8, 8, 8, 8, 8, 8, 64, 64, 64, 63}, "NN");
  EXPECT_TRUE(space_of(gemm16_strided(), overlapping, testing::small_gpu()).empty());
}

}  // namespace
}  // namespace autotune
