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

}  // namespace
}  // namespace autotune
