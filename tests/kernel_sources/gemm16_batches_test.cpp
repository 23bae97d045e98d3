// SPDX-License-Identifier: Apache-2.0
// Several products in 16 bits on the host device, as gemm16_test.cpp does it.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm16_batches_test {
namespace {

using Text = std::string;

struct Sizes {
  std::int64_t batch, m, n, k;
};

Problem problem(const Sizes& sizes, const char* layout, const char* output = "f16",
                const char* scale = "none", const char* epilogue = "none") {
  return problem_of(testing::gemm(),
                    {{"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}, {"batch", sizes.batch}},
                    {{"layout", Text(layout)},
                     {"output", Text(output)},
                     {"dtype", Text(output == Text("f32") ? "bf16" : output)},
                     {"scale", Text(scale)},
                     {"epilogue", Text(epilogue)}});
}

NamedValues with(NamedValues held, const char* name, std::int64_t value) {
  held.push_back({name, value});
  return held;
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held = {}) {
  testing::expect_right(testing::gemm(), problem, seed, held);
}

TEST(Gemm16Batches, IsRightInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem({3, 61, 35, 67}, "NN", "bf16", "alpha", "bias_relu"), 1);
  expect_right(problem({2, 40, 64, 72}, "NT", "f32", "alpha", "bias"), 2);
  expect_right(problem({5, 24, 33, 50}, "TN", "f16", "none", "bias_gelu"), 3);
  expect_right(problem({2, 72, 48, 96}, "TT", "f16"), 4);
}

TEST(Gemm16Batches, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(problem({3, 72, 136, 72}, "NN", "bf16", "alpha", "bias_relu"), 5,
               testing::wgmma_tile(64, 80, 0));
  expect_right(problem({2, 40, 72, 136}, "NT", "f32", "alpha", "bias"), 6,
               testing::wgmma_tile(64, 24, 1));
  expect_right(problem({3, 61, 67, 90}, "TN", "f16", "none", "bias_gelu"), 7,
               testing::wgmma_tile(64, 32, 0));
  expect_right(problem({2, 72, 80, 200}, "TT", "f16"), 8, testing::wgmma_tile(64, 48, 1));
}

TEST(Gemm16Batches, IsRightByWgmmaInPartsOfKAndWithPaddedLines) {
  DeviceInfo idle = testing::small_hopper();
  idle.multiprocessors = 8;
  const Verdict in_parts =
      testing::verdict_of(idle, testing::gemm(), problem({3, 40, 24, 1100}, "NT", "f32"), 9,
                          with(testing::wgmma_tile(64, 32, 0), "K_PARTS", 2));
  EXPECT_EQ(name_of(in_parts.outcome), "ok") << in_parts.message;
  expect_right(problem({3, 40, 72, 72}, "NN", "f16", "beta"), 10,
               with(testing::wgmma_tile(64, 32, 0), "PAD_LINES", 1));
}

TEST(Gemm16Batches, IsRightByWgmmaWhereThreadsCopy) {
  using testing::wgmma_tile_by_threads;
  expect_right(problem({3, 40, 72, 136}, "NN", "f16", "beta"), 14,
               wgmma_tile_by_threads(64, 48, 0));
  expect_right(problem({3, 72, 40, 72}, "TT"), 15, wgmma_tile_by_threads(64, 32, 1));
  expect_right(problem({2, 40, 72, 72}, "NT"), 16, wgmma_tile_by_threads(64, 32, 0, "rows"));
}

TEST(Gemm16Batches, IsRightByWgmmaWhereBlocksShareCopies) {
  using testing::wgmma_tile_shared;
  expect_right(problem({3, 136, 200, 264}, "NN", "f16", "beta"), 17,
               wgmma_tile_shared(64, 64, 0, 2, 2));
  expect_right(problem({2, 200, 136, 136}, "NT", "bf16"), 18, wgmma_tile_shared(64, 72, 1, 2, 2));
}

TEST(Gemm16Batches, AProductOfTheFirstMatrixIsWrong) {
  const auto spoil = [](std::string& text) {
    const std::string own = "m * K,";
    const std::size_t at = text.find(own);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, own.size(), "0,");
  };
  const Problem two = problem({2, 32, 32, 64}, "NN");
  EXPECT_EQ(testing::verdict_of(testing::gemm(), two, 13, {}, spoil).outcome, Outcome::wrong);
}

}  // namespace
}  // namespace autotune::gemm16_batches_test
