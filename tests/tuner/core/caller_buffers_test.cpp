// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/caller_buffers.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

TEST(CallerBuffers, UncheckedOutputsFollowTheOthersAndChecksAreDropped) {
  std::vector<BufferSpec> buffers = {{"in", ElementType::f32, 4, Role::input}};
  LaunchPlan plan;
  plan.workspace = {{"raw", ElementType::f32, 8, Role::unchecked},
                    {"counts", ElementType::i32, 2, Role::unchecked},
                    {"scratch", ElementType::f32, 16, Role::workspace}};
  plan.checks.emplace_back();
  pass_unchecked(plan, buffers);
  // Kernels refer to buffers by their number, and those of the plan follow those of the problem.
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[1].name, "raw");
  EXPECT_EQ(buffers[2].name, "counts");
  ASSERT_EQ(plan.workspace.size(), 1u);
  EXPECT_EQ(plan.workspace[0].name, "scratch");
  EXPECT_TRUE(plan.checks.empty());
}

}  // namespace
}  // namespace autotune
