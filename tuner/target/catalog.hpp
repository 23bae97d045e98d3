// SPDX-License-Identifier: Apache-2.0
// Finds targets by name.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// The folders that are searched for NAME/NAME.target.toml, in order: those of
/// $AUTOTUNE_KERNEL_PATH (separated by colons), those in `installed`, then
/// share/autotune/kernel_sources beside the folder of this program.
std::vector<std::filesystem::path> kernel_folders(
    std::span<const std::filesystem::path> installed = {});

struct CatalogEntry {
  std::string name;
  std::filesystem::path manifest;
};

/// Every target of kernel_folders(installed), sorted by name. The first of two with the same name
/// counts.
std::vector<CatalogEntry> list_targets(std::span<const std::filesystem::path> installed = {});

/// Whether this is the path of a manifest, not a name: it has a `/`, or ends in `.toml` or `.json`.
bool is_manifest_path(std::string_view name_or_path);

/// Loads a manifest by its path, or by its name in list_targets(installed). Throws UsageError
/// with near names if there is none, Error if it cannot be read.
Target find_target_in(std::span<const std::filesystem::path> installed,
                      std::string_view name_or_path);
/// The same in list_targets().
Target find_target(std::string_view name_or_path);

/// The manifest that a person means by a path, or a name: that of list_targets(), else
/// ./NAME.target.toml. Empty if there is no such file.
std::filesystem::path manifest_called(std::string_view name_or_path);

}  // namespace autotune
