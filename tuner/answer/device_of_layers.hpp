// SPDX-License-Identifier: Apache-2.0
// Which GPU the databases are about, for a program on a machine without it.
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

}  // namespace autotune
