// SPDX-License-Identifier: Apache-2.0
// The edge problem: a small problem whose sizes fit no tile.
#pragma once

#include <optional>

#include "tuner/core/target.hpp"

namespace autotune {

/// A finalist must also be right here before its time is published. Each size becomes 257, or the
/// next one if it is below 256; a size with a `multiple` becomes the next multiple. Fixed sizes and
/// settings stay. nullopt if a file has the expected results, or if a size would change that an
/// input file belongs to.
std::optional<Problem> edge_problem(const Target& target, const Problem& problem);

}  // namespace autotune
