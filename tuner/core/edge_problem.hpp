// SPDX-License-Identifier: Apache-2.0
// The edge problem: a small problem whose sizes fit no tile, with various free sizes.
#pragma once

#include <optional>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// A finalist must also be right here before its time is published. Each size becomes 257, or the
/// next one if it is below 256; a size with a `multiple` becomes the next multiple. Fixed sizes and
/// settings stay. nullopt if a file has the expected results, or if a size would change that an
/// input file belongs to.
std::optional<Problem> edge_problem(const Target& target, const Problem& problem);

/// The edge problem; with free sizes, further problems whose sizes are multiples of 16, as aligned
/// kernels want them, and fit few tiles: with free sizes at their defaults; with all of them larger
/// by 16 bytes of the elements that they count; with those of one argument larger by an element;
/// with one alignment that of an element. Without those that the target refuses. Throws Error if a
/// default has no value.
std::vector<Problem> edge_problems(const Target& target, const Problem& problem,
                                   const DeviceInfo& device);

}  // namespace autotune
