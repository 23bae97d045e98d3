// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/caller_buffers.hpp"

#include <algorithm>

namespace autotune {

void pass_unchecked(LaunchPlan& plan, std::vector<BufferSpec>& buffers) {
  const auto end = std::ranges::find_if(
      plan.workspace, [](const BufferSpec& each) { return each.role != Role::unchecked; });
  buffers.insert(buffers.end(), plan.workspace.begin(), end);
  plan.workspace.erase(plan.workspace.begin(), end);
  plan.checks.clear();
}

}  // namespace autotune
