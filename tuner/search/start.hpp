// SPDX-License-Identifier: Apache-2.0
// Which configurations are tried before anything is known of the times.
#pragma once

#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {

/// `count` configurations, far from each other and from those `taken`: greedy maximin over 1000
/// random ones. Fewer when the space has no more that are not taken.
std::vector<std::size_t> spread_out(const ParameterSpace& space,
                                    const LevelCoordinates& coordinates, std::size_t count,
                                    std::span<const std::size_t> taken, RandomSource& random);

}  // namespace autotune
