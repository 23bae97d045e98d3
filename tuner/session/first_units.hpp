// SPDX-License-Identifier: Apache-2.0
// What the tuning of a problem compiles first, known before it begins.
#pragma once

#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/session/prepared_problems.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// Of a problem without stored trials: the default configuration, the same for the edge problem,
/// and what the request's strategy asks for first. `batch` is the number of compile threads. Empty
/// where that is not known. Throws nothing but std::bad_alloc.
std::vector<SourceUnit> first_units(const Target& target, const Problem& problem,
                                    const PreparedProblem& prepared, Device& device,
                                    const TuningRequest& request, int batch);

}  // namespace autotune
