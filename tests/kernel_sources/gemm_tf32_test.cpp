// SPDX-License-Identifier: Apache-2.0
// Products in tf32 on the host device, as gemm_i8_test.cpp does it.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm_tf32_test {
namespace {

using Text = std::string;
using testing::wgmma_tile_along_k;

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const char* layout,
                const char* scale = "none", const char* epilogue = "none") {
  return problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}},
                    {{"math", Text("tf32")},
                     {"layout", Text(layout)},
                     {"scale", Text(scale)},
                     {"epilogue", Text(epilogue)}});
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held = {}) {
  testing::expect_right(testing::gemm(), problem, seed, held);
}

TEST(GemmTf32, IsRightInEveryLayoutScaleAndEpilogue) {
  expect_right(problem(61, 67, 45, "NN"), 1);
  expect_right(problem(64, 48, 72, "NT", "alpha", "bias"), 2);
  expect_right(problem(33, 61, 40, "TN", "beta", "relu"), 3);
  expect_right(problem(64, 32, 36, "TT", "none", "bias_gelu"), 4);
}

TEST(GemmTf32, IsRightByWgmmaInEveryLayoutScaleAndEpilogue) {
  expect_right(problem(72, 68, 80, "NN"), 5, wgmma_tile_along_k(64, 32, 1));
  expect_right(problem(64, 48, 72, "NT", "alpha", "bias"), 6, wgmma_tile_along_k(64, 48, 0));
  expect_right(problem(33, 61, 40, "TN", "beta", "relu"), 7, wgmma_tile_along_k(64, 24, 1));
  expect_right(problem(64, 36, 68, "TT", "none", "bias_gelu"), 8, wgmma_tile_along_k(64, 16, 0));
}

TEST(GemmTf32, IsRightWithRowsByWayOfRegisters) {
  const auto across = [](std::int64_t rows, std::int64_t columns, std::int64_t swap) {
    return testing::with(wgmma_tile_along_k(rows, columns, swap), "ROWS_ACROSS=1");
  };
  expect_right(problem(61, 68, 80, "NN"), 10, across(64, 24, 1));
  expect_right(problem(132, 40, 45, "TT"), 11, across(128, 32, 0));
  expect_right(problem(68, 64, 70, "TN"), 12, across(64, 48, 1));
}

/// The roundings of A and B allow much less.
TEST(GemmTf32, ASumWithoutItsLastSliceIsWrong) {
  const Verdict verdict = testing::verdict_of(testing::gemm(), problem(32, 32, 512, "NT"), 9, {},
                                              testing::spoilt("pitch_b, K},", "pitch_b, K - 8},"));
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
}

}  // namespace
}  // namespace autotune::gemm_tf32_test
