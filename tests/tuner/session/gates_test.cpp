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

}  // namespace
}  // namespace autotune
