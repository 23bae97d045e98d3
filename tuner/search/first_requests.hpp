// SPDX-License-Identifier: Apache-2.0
// What a search asks for first, known before it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Indices of the space, in the order in which the strategy asks for them before it has any answer
/// but that the default configuration runs. `predicted` is the evaluator's, `batch` too.
std::vector<std::size_t> first_requests(SearchStrategy& strategy, const ParameterSpace& space,
                                        std::span<const double> predicted,
                                        std::size_t default_index, int batch, std::uint64_t seed);

}  // namespace autotune
