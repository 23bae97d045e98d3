// SPDX-License-Identifier: Apache-2.0
// A time that no right configuration of a problem can go below.
#pragma once

#include "tuner/core/target_program.hpp"

namespace autotune {

/// The bytes that a call must move: `bytes` of the manifest, at most all buffers once; without it,
/// the outputs.
double least_bytes(const TargetProgram& program);

/// Seconds: a cycle, or those bytes at the peak rate of the caches next to the cores. 0 if the
/// device's clock is unknown. A shorter time is a disturbance of the clock or of a correction, or
/// the manifest states too many bytes.
double time_floor(const TargetProgram& program, const DeviceInfo& device);

}  // namespace autotune
