// SPDX-License-Identifier: Apache-2.0
// Loads libautotune when the first call needs it. Programs that never call cuBLAS do not pay for
// it.
#pragma once

#include "tuner/runtime/autotune.h"

namespace autotune::blas {

/// The functions of autotune.h that are used here.
struct RuntimeLibrary {
  decltype(&autotune_message) message = nullptr;
  decltype(&autotune_open) open = nullptr;
  decltype(&autotune_close) close = nullptr;
  decltype(&autotune_device) device = nullptr;
  decltype(&autotune_warnings) warnings = nullptr;
  decltype(&autotune_lookup) lookup = nullptr;
  decltype(&autotune_is_faster) is_faster = nullptr;
  decltype(&autotune_prepare) prepare = nullptr;
  decltype(&autotune_release) release = nullptr;
  decltype(&autotune_kernel_configuration) configuration = nullptr;
  decltype(&autotune_kernel_buffers) buffers = nullptr;
  decltype(&autotune_kernel_buffer) buffer = nullptr;
  decltype(&autotune_kernel_scalars) scalars = nullptr;
  decltype(&autotune_kernel_scalar) scalar = nullptr;
  decltype(&autotune_kernel_workspace) workspace = nullptr;
  decltype(&autotune_launch_with) launch_with = nullptr;
  // Not in an earlier version:
  decltype(&autotune_kernel_earns) earns = nullptr;
  decltype(&autotune_begin_call) begin_call = nullptr;
  decltype(&autotune_end_call) end_call = nullptr;
  decltype(&autotune_stop_compiling) stop_compiling = nullptr;
};

/// Loads AUTOTUNE_BLAS_LIBRARY, else the libautotune beside this library. nullptr, and a warning,
/// if that fails.
const RuntimeLibrary* runtime_library();

}  // namespace autotune::blas
