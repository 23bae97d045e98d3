// SPDX-License-Identifier: Apache-2.0
// Sizes that a target takes, near others that it refuses.
#pragma once

#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// The nearest problem at which a default configuration can be launched: with sizes rounded up to
/// multiples of a power of two, all as large as the largest, or in parts. nullopt if there is none.
std::optional<Problem> near_problem(const Target& target, const Problem& problem,
                                    const DeviceInfo& device);
/// The sizes of a problem as `--sizes` takes them: `512x64`.
std::string size_text(const Target& target, const Problem& problem);

}  // namespace autotune
