// SPDX-License-Identifier: Apache-2.0
// NVRTC, loaded by this process itself, so that programs start where it is not installed.
#pragma once

namespace autotune {

/// The address of NVRTC's function; nullptr where NVRTC is not installed.
void* nvrtc_function(const char* name);

}  // namespace autotune
