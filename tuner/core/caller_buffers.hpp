// SPDX-License-Identifier: Apache-2.0
// Plans for a program that launches a configuration on its own buffers.
#pragma once

#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Moves unchecked outputs from the plan's workspace to the end of the caller's buffers, and drops
/// the check kernels. The numbers of buffers do not change.
void pass_unchecked(LaunchPlan& plan, std::vector<BufferSpec>& buffers);

}  // namespace autotune
