// SPDX-License-Identifier: Apache-2.0
// Manifests, NAME.target.json: how a kernel and its tunable space are declared. docs/manifest.md
// documents the format.
#pragma once

#include <filesystem>
#include <string_view>

#include "tuner/core/target.hpp"

namespace autotune {

/// The format that is read here: `"manifest": 1`.
inline constexpr int kManifestVersion = 1;

/// Reads a manifest and the source that it names. Throws Error with the file, the key
/// (`kernels[0].grid[1]`), for expressions the column, and what is wrong.
Target load_manifest(const std::filesystem::path& file);

/// The same for a text, as a plugin gives it; paths in it start from the folder of `file`.
Target read_manifest(std::string_view text, const std::filesystem::path& file);

}  // namespace autotune
