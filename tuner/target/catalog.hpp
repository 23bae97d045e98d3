// SPDX-License-Identifier: Apache-2.0
// Finds targets by name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// Where NAME/NAME.target.toml is looked for, first match first: the folders of
/// $AUTOTUNE_KERNEL_PATH (separated by colons), then share/autotune/kernel_sources beside the
/// folder of this program.
std::vector<std::filesystem::path> kernel_folders();

struct CatalogEntry {
  std::string name;
  std::filesystem::path manifest;
};

/// Every target of kernel_folders(), by name.
std::vector<CatalogEntry> list_targets();

/// NAME/NAME.target.toml in a folder, or .json; empty where there is neither.
std::filesystem::path manifest_in(const std::filesystem::path& folder, const std::string& name);

/// Whether this is the path of a manifest, not a name: it has a `/`, or ends in `.toml` or `.json`.
bool is_manifest_path(std::string_view name_or_path);

/// Loads a manifest by its path or its name. Throws UsageError
/// with near names when there is none, Error when it cannot be read.
Target find_target(std::string_view name_or_path);

}  // namespace autotune
