// SPDX-License-Identifier: Apache-2.0
// The source of the tuner's own kernels. A test compiles it for old and new architectures.
#pragma once

#include "tuner/core/launch.hpp"

namespace autotune {

/// Largest number of stamps: one per multiprocessor, by its number.
inline constexpr int kMostStamps = 512;

/// Kernels to fill, compare, hash, check red zones and stamp clocks, and an empty one.
SourceUnit device_kernels_source();

}  // namespace autotune
