// SPDX-License-Identifier: Apache-2.0
// The search path of plugins.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

/// The folders of $AUTOTUNE_PLUGIN_PATH (separated by colons), then lib/autotune/plugins beside the
/// folder of this program. The working directory is never searched. Throws UsageError if a folder
/// of the path is not absolute.
std::vector<std::filesystem::path> plugin_folders();

/// Every *.so in plugin_folders(), in their order and by name within a folder; a file found twice
/// is listed once.
std::vector<std::filesystem::path> plugin_files();
/// The same of these folders.
std::vector<std::filesystem::path> plugin_files(const std::vector<std::filesystem::path>& folders);

}  // namespace autotune
