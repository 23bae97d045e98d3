// SPDX-License-Identifier: Apache-2.0
// gemm with free sizes away from their defaults, and its epilogues: configurations of GPUs, on the
// host device.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm_distances_test {
namespace {

using testing::named;
using Text = std::string;
using Sizes = testing::DistantSizes;
using testing::gemm;
using testing::small_gpu;

Problem problem(const Sizes& sizes, const NamedValues& settings = {}) {
  return testing::distant_problem(sizes, settings);
}

void expect_right(const Problem& problem, const NamedValues& held) {
  testing::expect_right(small_gpu(), gemm(), problem, 0, held);
}

const NamedValues kFast = named("KERNEL=fast");
const NamedValues kTiled = named("KERNEL=tiled");

NamedValues fast(const char* name, const Value& value) {
  return {{"KERNEL", Text("fast")}, {name, value}};
}

TEST(GemmDistances, IsRightInEveryLayoutWithRowsOfAnyLength) {
  expect_right(problem({61, 131, 67, 1, 80, 140, 131, 139}), kFast);
  expect_right(problem({61, 131, 67, 1, 67, 69, 133, 131}, named("layout=NT scale=beta")), kFast);
  expect_right(problem({64, 96, 128, 1, 68, 100, 96, 104}, named("layout=TN scale=alpha")), kFast);
  expect_right(problem({64, 96, 128, 1, 64, 132, 100, 96}, named("layout=TT scale=beta")), kFast);
}

TEST(GemmDistances, IsRightWithEveryEpilogue) {
  for (const char* epilogue : {"relu", "bias", "bias_gelu"}) {
    expect_right(problem({61, 132, 64, 1, 64, 132, 132, 136}, {{"epilogue", Text(epilogue)}}),
                 kFast);
  }
  // Rows of the default lengths, which the compiler knows.
  expect_right(problem({61, 131, 67}, named("epilogue=bias")),
               fast("STATIC_SIZES", std::int64_t{1}));
  expect_right(problem({33, 50, 40, 1, 40, 50, 50, 60}, named("epilogue=bias_gelu")), kTiled);
  expect_right(problem({33, 50, 40}, named("dtype=f64 epilogue=bias_gelu")), kTiled);
  expect_right(
      problem({61, 132, 64, 1, 64, 132, 132, 136}, named("epilogue=bias_relu scale=alpha")), kFast);
  expect_right(problem({61, 132, 64, 1, 64, 132, 140, 136}, named("epilogue=gelu scale=beta")),
               kFast);
}

TEST(GemmDistances, IsRightWhereSumsMeet) {
  expect_right(problem({64, 128, 256, 1, 260, 128, 128, 132}, named("epilogue=bias_gelu")),
               fast("REDUCTION", Text("workspace")));
  expect_right(problem({32, 64, 256, 1, 260, 64, 64, 68}, named("epilogue=relu")),
               fast("K_SLICES", std::int64_t{4}));
}

TEST(GemmDistances, IsRightForMatricesAtAnyDistance) {
  const NamedValues beta = named("layout=NT scale=beta");
  const Sizes odd{37, 41, 29, 3, 43, 47, 44, 45, 1700, 2001, 1801, 1901};
  expect_right(problem(odd, beta), kFast);
  expect_right(problem(odd, beta), kTiled);
  expect_right(problem({7, 41, 29, 3, 43, 47, -1, 45, 400, 2001, -1, 401}, named("dtype=i32")),
               kTiled);
  expect_right(problem({40, 16, 24, 4, 96, 96, 64, 64, 24, 24, 16, 16}, beta), kFast);
  expect_right(problem({40, 24, 24, 3, -1, -1, -1, -1, 0}), kFast);
  expect_right(problem({48, 64, 1024, 2, 1028, 68, -1, 72, 50000, 70000}),
               fast("REDUCTION", Text("workspace")));
  expect_right(problem({1009, 911, 517, 2, 520, 920, -1, 912, 530000, 490000, -1, 930000}),
               fast("PACK", Text("all")));
}

TEST(GemmDistances, IsRightForManySmallProducts) {
  for (const char* method : {"shared", "direct"}) {
    const NamedValues held{{"KERNEL", Text("batched")}, {"METHOD", Text(method)}};
    expect_right(problem({37, 41, 29, 3}), held);
    expect_right(problem({32, 48, 64, 3, 68, 52, -1, 56, 2304, 3400, -1, 1800}), held);
    expect_right(problem({37, 41, 29, 3, 43, 47, -1, 45, 0, 2001, -1, 1901},
                         named("dtype=f64 epilogue=relu")),
                 held);
  }
}

TEST(GemmDistances, IsRightForAddressesOfLittleAlignment) {
  expect_right(problem({64, 96, 128, 1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 8, 4}), kFast);
}

/// Leading dimensions and epilogues rule nothing out.
TEST(GemmDistances, AreOfEveryPackedConfiguration) {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  const ParameterSpace packed = space_of(gemm(), problem({96, 128, 256}), gpu);
  const ParameterSpace strided =
      space_of(gemm(), problem({96, 128, 256, 1, 260, 132, 128, 136}, named("epilogue=bias")), gpu);
  ASSERT_FALSE(packed.empty());
  for (std::uint64_t i = 0; i < packed.size(); i += 1 + packed.size() / 500) {
    const Configuration configuration = packed.at(i);
    EXPECT_TRUE(strided.find(configuration)) << to_text(configuration);
  }
}

TEST(GemmDistances, WhatNoKernelComputesIsRefused) {
  const auto refused = [](const Problem& problem) {
    EXPECT_THROW(space_of(gemm(), problem, small_gpu()), UsageError) << problem.text();
  };
  refused(problem({8, 8, 8}, named("epilogue=bias scale=beta")));
  refused(problem({8, 8, 8}, named("epilogue=relu dtype=i32")));
  refused(problem({8, 8, 8, 2, 8, 8, 8, 8, 64, 64, 64, 63}));
}

}  // namespace
}  // namespace autotune::gemm_distances_test
