// SPDX-License-Identifier: Apache-2.0
// The path of the cuBLAS plugin: as built, or as copied to the machine with the GPU.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace autotune {

/// In $AUTOTUNE_PLUGIN_PATH (set by scripts/gpu_tests), else where plugins are built.
inline std::filesystem::path cublas_plugin() {
  const char* const copied = std::getenv("AUTOTUNE_PLUGIN_PATH");
  const std::filesystem::path folder =
      copied != nullptr ? copied : AUTOTUNE_BINARY_DIR "/lib/autotune/plugins";
  return folder / "cublas.so";
}

}  // namespace autotune
