// SPDX-License-Identifier: Apache-2.0
// The sizes at which the judge verifies a kernel, beside those that are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// Sizes with a default, free sizes included, that the candidate never hears of: it is right at
/// their defaults only.
std::vector<std::string> unknown_sizes(const Target& candidate);

/// Edge problems of what the candidate is compared with, as far as they are valid for both. Unknown
/// sizes have their defaults.
EdgeProblems judged_edges(const Target& candidate, const Problem& problem,
                          const DeviceInfo& device);

/// Problems of the sizes that nobody has named: between the edge problem's and those of `problem`,
/// of which the configuration is valid.
std::vector<Problem> own_problems(const Target& target, const Problem& problem,
                                  const DeviceInfo& device, int count, std::uint64_t seed);

}  // namespace autotune
