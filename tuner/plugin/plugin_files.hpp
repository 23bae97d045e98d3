// SPDX-License-Identifier: Apache-2.0
// Where plugins are looked for.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

/// The folders of $AUTOTUNE_PLUGIN_PATH (separated by colons), then lib/autotune/plugins beside the
/// folder of this program; never the working directory. Throws UsageError for a folder of the path
/// that is not absolute.
std::vector<std::filesystem::path> plugin_folders();

/// Every *.so in plugin_folders(), in their order and by name within one; a file that is reached in
/// two ways stands there once.
std::vector<std::filesystem::path> plugin_files();

}  // namespace autotune
