// SPDX-License-Identifier: Apache-2.0
// Properties of the host's processor.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/core/device.hpp"

namespace autotune {

/// Everything but `environment`.
DeviceInfo cpu_info();

/// Model and instruction sets: what `-march=native` depends on.
std::string cpu_fingerprint();

/// Memory that can be allocated without swapping; 0 if unknown.
std::int64_t available_memory_bytes();

}  // namespace autotune
