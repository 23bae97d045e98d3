// SPDX-License-Identifier: Apache-2.0
// The edge problem: a small problem whose sizes fit no tile.
#pragma once

#include <optional>

#include "tuner/core/target.hpp"

namespace autotune {

/// Where a configuration must be right too before its time is published: each size is 257, or one
/// past itself where it is below 256; settings stay. A size that is a multiple goes on to its next
/// one, and what is fixed stays. There is none where the right answer stands in a file, for that is
/// the answer to one problem, and none where a size would change that an input's file belongs to.
std::optional<Problem> edge_problem(const Target& target, const Problem& problem);

}  // namespace autotune
