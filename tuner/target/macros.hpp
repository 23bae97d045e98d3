// SPDX-License-Identifier: Apache-2.0
// Macros of a target that would be spelled alike.
#pragma once

#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

/// Throws Error at `place` for two macros of one spelling in one configuration.
void refuse_equal_macros(const Node& place, const Target& target);

}  // namespace autotune
