// SPDX-License-Identifier: Apache-2.0
// The source of our own kernels; it compiles for old and new architectures, which a test sees to.
#pragma once

#include "tuner/core/launch.hpp"

namespace autotune {

/// As many stamps as `stamp` may write: one a multiprocessor, by its number.
inline constexpr int kMostStamps = 512;

/// Filling, comparing, hashing, checking red zones, stamping clocks, and doing nothing.
SourceUnit device_kernels_source();

}  // namespace autotune
