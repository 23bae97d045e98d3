// SPDX-License-Identifier: Apache-2.0
// Which GPU of this machine a program means.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tuner/core/device.hpp"

namespace autotune {

/// The ordinal of the GPU that a name and an ordinal mean. An empty name means every GPU. Ordinal 0
/// stands for the first of the name. nullopt if no GPU has the name, or if there is none at all.
/// Throws Error if there is no GPU `ordinal`, or if it has another name.
std::optional<int> chosen_gpu(std::span<const DeviceInfo> gpus, const std::string& name,
                              int ordinal);

}  // namespace autotune
