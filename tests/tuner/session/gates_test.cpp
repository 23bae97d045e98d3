// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/gates.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

Launch launch(std::string entry, unsigned blocks, unsigned threads, std::int64_t shared_bytes) {
  Launch one;
  one.entry = std::move(entry);
  one.grid.x = blocks;
  one.block.x = threads;
  one.dynamic_shared_bytes = shared_bytes;
  return one;
}

TEST(Gates, AConfigurationStandsForTheLaunchWithTheMostSharedMemoryThenThreads) {
  LaunchPlan plan;
  plan.launches = {launch("pack", 512, 256, 0), launch("product", 128, 128, 65536),
                   launch("sum", 512, 128, 0)};
  EXPECT_EQ(heaviest(plan).entry, "product");
  plan.launches[1].dynamic_shared_bytes = 0;
  EXPECT_EQ(heaviest(plan).entry, "pack");
}

TEST(Gates, ClustersNeedAGpuThatHasThemOrTheHost) {
  LaunchPlan plan;
  plan.launches = {launch("product", 128, 128, 0)};
  const auto complaint = [&](DeviceKind kind, int compute_capability, std::int64_t blocks) {
    plan.launches[0].cluster.x = blocks;
    DeviceInfo device;
    device.kind = kind;
    device.compute_capability = compute_capability;
    return breaks_declared_limit(plan, {}, device).value_or("");
  };
  EXPECT_EQ(complaint(DeviceKind::cuda, 80, 2),
            "product launches clusters, which need compute capability 9.0");
  EXPECT_EQ(complaint(DeviceKind::cuda, 80, 1), "");
  EXPECT_EQ(complaint(DeviceKind::cuda, 90, 8), "");
  EXPECT_EQ(complaint(DeviceKind::host, 0, 8), "");
  EXPECT_NE(complaint(DeviceKind::host, 0, 16), "");
}

TEST(Gates, BlocksOfACooperativeLaunchMustBeResidentAtOnce) {
  LaunchPlan plan;
  plan.launches = {launch("meet", 264, 1024, 0)};
  DeviceInfo device;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 200'000;
  CompiledKernel kernel;
  kernel.resources = {{.entry = "meet", .registers = 32}};
  const auto declared = [&] { return breaks_declared_limit(plan, {}, device).value_or(""); };
  const auto compiled = [&] { return breaks_compiled_limit(kernel, plan, device).value_or(""); };
  plan.launches[0].grid.x = 1000;
  EXPECT_EQ(declared() + compiled(), "") << "it is not cooperative";
  plan.launches[0].cooperative = true;
  EXPECT_EQ(declared(),
            "meet is cooperative, and its 1000 blocks must be resident at once: the device holds "
            "264 of them");
  plan.launches[0].grid.x = 264;
  EXPECT_EQ(declared() + compiled(), "");
  kernel.resources[0].registers = 64;
  EXPECT_EQ(declared(), "");
  EXPECT_EQ(compiled(),
            "meet is cooperative, and its 264 blocks must be resident at once: the device holds "
            "132 of them");
  device.kind = DeviceKind::host;
  device.compute_capability = 0;
  EXPECT_NE(declared(), "") << "the host has fibres for 8192 threads";
  plan.launches[0].grid.x = 8;
  EXPECT_EQ(declared(), "");
}

}  // namespace
}  // namespace autotune
