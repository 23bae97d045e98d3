// SPDX-License-Identifier: Apache-2.0
// Cooperative groups in a kernel's code.
#pragma once

#include "tuner/target/tokens.hpp"

namespace autotune {

/// Puts `blockIdx.x * blockDim.x + threadIdx.x` in place of `cg::this_grid().thread_rank()`, and so
/// on: also for `block.group_index().x` of a variable for the group.
void name_indices_of_groups(Tokens& body);

}  // namespace autotune
