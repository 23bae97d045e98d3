// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/caller_buffers.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

TEST(CallerBuffers, UncheckedOutputsFollowTheOthersAndChecksAreDropped) {
  std::vector<BufferSpec> buffers = {{"in", ElementType::f32, 4, Role::input}};
  LaunchPlan plan;
  plan.workspace = {{"raw", ElementType::f32, 8, Role::unchecked},
                    {"scratch", ElementType::f32, 16, Role::workspace}};
  plan.checks.emplace_back();
  pass_unchecked(plan, buffers);
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_EQ(buffers[1].name, "raw");
  ASSERT_EQ(plan.workspace.size(), 1u);
  EXPECT_EQ(plan.workspace[0].name, "scratch");
  EXPECT_TRUE(plan.checks.empty());
}

}  // namespace
}  // namespace autotune
