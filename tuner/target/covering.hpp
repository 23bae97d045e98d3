// SPDX-License-Identifier: Apache-2.0
// A few configurations that stand for a whole space.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// Indices, at most `most`, `first` the first of them, that together hold every value of every
/// parameter that a valid configuration holds, as far as `most` allows: each next one has the most
/// values that are still missing. Of a space beyond 100,000 only evenly spaced ones are considered.
std::vector<std::size_t> covering_configurations(const ParameterSpace& space, std::size_t first,
                                                 std::size_t most);

}  // namespace autotune
