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
/// random ones, with a cost model over those that it puts in the faster half (`log_predicted`, as
/// log_predictions() has it). Fewer when the space has no more that are not taken.
std::vector<std::size_t> spread_out(const ParameterSpace& space,
                                    const LevelCoordinates& coordinates, std::size_t count,
                                    std::span<const std::size_t> taken, RandomSource& random,
                                    std::span<const float> log_predicted = {});

/// The first configurations of a search. Without a cost model those that are spread out. With one
/// (`log_predicted` has a figure an index) two thirds are from the first of its ranking, the best
/// and then such as lie far apart; the rest are spread out, lest the model be wrong.
std::vector<std::size_t> first_configurations(const ParameterSpace& space,
                                              const LevelCoordinates& coordinates,
                                              std::span<const float> log_predicted,
                                              std::size_t count, std::span<const std::size_t> taken,
                                              RandomSource& random);

}  // namespace autotune
