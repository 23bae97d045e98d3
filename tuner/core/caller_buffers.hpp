// SPDX-License-Identifier: Apache-2.0
// What a program passes to a configuration that it launches itself.
#pragma once

#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

/// Moves unchecked outputs from the plan's workspace to the end of the caller's buffers, where no
/// number changes, and drops the check kernels, which no program runs.
void pass_unchecked(LaunchPlan& plan, std::vector<BufferSpec>& buffers);

}  // namespace autotune
