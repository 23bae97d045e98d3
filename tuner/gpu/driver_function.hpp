// SPDX-License-Identifier: Apache-2.0
// Private to this folder: functions of the driver, without linking to it.
#pragma once

namespace autotune {

/// The function of this name as of CUDA 12.0; nullptr where the driver is older or is not there.
void* driver_function(const char* name);

}  // namespace autotune
