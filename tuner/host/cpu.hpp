// SPDX-License-Identifier: Apache-2.0
// What is known of the processor that the host device is.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/core/device.hpp"

namespace autotune {

/// Everything but `environment`.
DeviceInfo cpu_info();

/// Model and instruction sets: what `-march=native` depends on.
std::string cpu_fingerprint();

/// What could be allocated without swapping; 0 when unknown.
std::int64_t available_memory_bytes();

}  // namespace autotune
