// SPDX-License-Identifier: Apache-2.0
// A few configurations that represent a whole space.
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/core/parameter_space.hpp"

namespace autotune {

/// At most `most` indices, beginning with `first`. Each next one adds as many new parameter values
/// as possible, until every value of a valid configuration occurs. A space of more than 100,000
/// configurations is searched at evenly spaced indices only.
std::vector<std::size_t> covering_configurations(const ParameterSpace& space, std::size_t first,
                                                 std::size_t most);

}  // namespace autotune
