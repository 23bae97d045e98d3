// SPDX-License-Identifier: Apache-2.0
// Where the repository is: as built, or as copied to the machine with the GPU.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace autotune {

/// $AUTOTUNE_TEST_SOURCES, which scripts/gpu_tests sets, else where the tests were built.
inline std::filesystem::path source_folder() {
  const char* const copied = std::getenv("AUTOTUNE_TEST_SOURCES");
  return copied != nullptr ? copied : AUTOTUNE_SOURCE_DIR;
}

}  // namespace autotune
