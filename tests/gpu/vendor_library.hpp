// SPDX-License-Identifier: Apache-2.0
// The plugin that calls cuBLAS: as built, or as copied to the machine with the GPU.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace autotune {

/// In $AUTOTUNE_PLUGIN_PATH, which scripts/gpu_tests sets, else where the plugins were built.
inline std::filesystem::path cublas_plugin() {
  const char* const copied = std::getenv("AUTOTUNE_PLUGIN_PATH");
  const std::filesystem::path folder =
      copied != nullptr ? copied : AUTOTUNE_BINARY_DIR "/lib/autotune/plugins";
  return folder / "cublas.so";
}

}  // namespace autotune
