// SPDX-License-Identifier: Apache-2.0
// The paths of plugins that use a CUDA library: as built, or as copied to the machine with the GPU.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace autotune {

/// In $AUTOTUNE_PLUGIN_PATH (set by scripts/gpu_tests), else where plugins are built.
inline std::filesystem::path shipped_plugin(const char* file) {
  const char* const copied = std::getenv("AUTOTUNE_PLUGIN_PATH");
  const std::filesystem::path folder =
      copied != nullptr ? copied : AUTOTUNE_BINARY_DIR "/lib/autotune/plugins";
  return folder / file;
}

inline std::filesystem::path cublas_plugin() { return shipped_plugin("cublas.so"); }
inline std::filesystem::path counters_plugin() { return shipped_plugin("counters.so"); }

}  // namespace autotune
