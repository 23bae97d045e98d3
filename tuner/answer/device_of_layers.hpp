// SPDX-License-Identifier: Apache-2.0
// Which device a program means: a GPU of this machine, or the one that the databases are about.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "db/lookup_source.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

/// The device called `name` or, if that is empty, the one with the most rows for the target. Reads
/// the uppermost database that has any, and describes the device as far as its rows do. nullopt if
/// there are none. Appends a sentence to `remarks` for each missing or unreadable database.
std::optional<DeviceInfo> device_of_layers(std::span<const db::Layer> layers,
                                           const std::string& target, const std::string& name,
                                           std::vector<std::string>& remarks);

/// The ordinal of the GPU that a name and an ordinal mean. An empty name means every GPU. Ordinal 0
/// stands for the first of the name. nullopt if no GPU has the name, or if there is none at all.
/// Throws Error if there is no GPU `ordinal`, or if it has another name.
std::optional<int> chosen_gpu(std::span<const DeviceInfo> gpus, const std::string& name,
                              int ordinal);

}  // namespace autotune
