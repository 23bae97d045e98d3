// SPDX-License-Identifier: Apache-2.0
// Finds macros of a target that have the same name.
#pragma once

#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

/// Throws Error at `place` if one configuration defines two macros of the same name.
void refuse_equal_macros(const Node& place, const Target& target);

}  // namespace autotune
