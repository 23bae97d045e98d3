// SPDX-License-Identifier: Apache-2.0
// The first configurations of a search.
#pragma once

#include <span>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {

/// `count` configurations, far from each other and from those `taken`: greedy maximin over 1000
/// random ones. With a cost model (`log_predicted`, of log_predictions()), only from its faster
/// half. Returns fewer if the space has no more.
std::vector<std::size_t> spread_out(const ParameterSpace& space,
                                    const LevelCoordinates& coordinates, std::size_t count,
                                    std::span<const std::size_t> taken, RandomSource& random,
                                    std::span<const float> log_predicted = {});

/// `count` configurations, each the farthest of eight random ones from those `taken` and from the
/// earlier ones (Mitchell, "Spectrally Optimal Sampling for Distribution Ray Tracing", SIGGRAPH
/// 1991: best candidates). They lie apart, but unlike those of spread_out() not at the edges, where
/// most configurations fail. Returns fewer if the space has no more.
std::vector<std::size_t> best_candidates(const ParameterSpace& space,
                                         const LevelCoordinates& coordinates, std::size_t count,
                                         std::span<const std::size_t> taken, RandomSource& random);

/// The first configurations of a search. Without a cost model, they are spread out. With one
/// (`log_predicted`, one per index), two thirds come from the top of its ranking: the best, and
/// others far from it. The rest are spread out, in case the model is wrong.
std::vector<std::size_t> first_configurations(const ParameterSpace& space,
                                              const LevelCoordinates& coordinates,
                                              std::span<const float> log_predicted,
                                              std::size_t count, std::span<const std::size_t> taken,
                                              RandomSource& random);

}  // namespace autotune
