// SPDX-License-Identifier: Apache-2.0
// The manifests that ship.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

inline std::vector<std::filesystem::path> shipped_manifests() {
  std::vector<std::filesystem::path> manifests;
  const std::filesystem::path folder = AUTOTUNE_SOURCE_DIR "/kernel_sources";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(".target.toml")) manifests.push_back(entry.path());
  }
  return manifests;
}

}  // namespace autotune
