// SPDX-License-Identifier: Apache-2.0
// The repository's folder: as built, or as copied to the machine with the GPU.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace autotune {

/// $AUTOTUNE_TEST_SOURCES (set by scripts/gpu_tests), else the source folder of the build.
inline std::filesystem::path source_folder() {
  const char* const copied = std::getenv("AUTOTUNE_TEST_SOURCES");
  return copied != nullptr ? copied : AUTOTUNE_SOURCE_DIR;
}

}  // namespace autotune
