// SPDX-License-Identifier: Apache-2.0
// Batches of gemm on tensor cores, on the host device, as gemm_split_test.cpp does it.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/kernel_sources/strided_gemm.hpp"

namespace autotune {
namespace {

using Text = std::string;

const Target& gemm() {
  static const Target target = testing::shipped("gemm");
  return target;
}

struct Sizes {
  std::int64_t batch, m, n, k;
};

Problem problem(const Sizes& sizes, const NamedValues& settings = {}) {
  return problem_of(
      gemm(), {{"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}, {"batch", sizes.batch}}, settings);
}

NamedValues split(std::int64_t rows, std::int64_t columns, const char* a_source) {
  return {{"KERNEL", Text("split")},
          {"K_GROUPS", std::int64_t{1}},
          {"BM", rows},
          {"BN", columns},
          {"A_SOURCE", Text(a_source)}};
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held) {
  testing::expect_right(gemm(), problem, seed, held);
}

TEST(GemmSplitBatches, IsRightInEveryLayoutAndScale) {
  expect_right(problem({3, 61, 67, 130}), 1, split(64, 32, "shared"));
  expect_right(problem({2, 70, 50, 100}, {{"layout", Text("NT")}, {"scale", Text("beta")}}), 2,
               split(64, 48, "registers"));
  expect_right(problem({2, 130, 36, 64}, {{"layout", Text("TN")}, {"pad", std::int64_t{1}}}), 3,
               split(128, 32, "registers"));
  expect_right(problem({5, 40, 33, 68}, {{"layout", Text("TT")}, {"scale", Text("alpha")}}), 4,
               split(64, 32, "shared"));
}

TEST(GemmSplitBatches, SplitsOnlyAIfBIsConstant) {
  const DeviceInfo gpu = testing::small_hopper();
  const Problem three = problem({3, 128, 192, 256});
  const ParameterSpace space = space_of(with_fixed(gemm(), split(64, 32, "shared")), three, gpu);
  const LaunchPlan plan = launch_plan(gemm(), three, space.at(0), gpu);
  EXPECT_EQ(plan.launches.at(0).grid.count(), 3 * 4 * 2 * 3);
  EXPECT_EQ(with_constant(plan, "B").launches.at(0).grid.count(), 2 * 4 * 3);
}

TEST(GemmSplitBatches, PlanesOfTheFirstMatrixAreWrong) {
  const auto spoil = [](std::string& text) {
    const std::string own = "first.next(batch)";
    const std::size_t at = text.find(own);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, own.size(), "first.next(0)");
  };
  EXPECT_EQ(testing::verdict_of(gemm(), problem({2, 33, 32, 64}), 7, split(64, 32, "shared"), spoil)
                .outcome,
            Outcome::wrong);
}

}  // namespace
}  // namespace autotune
