// SPDX-License-Identifier: Apache-2.0
// Manifests, NAME.target.toml: how a kernel and its tunable space are declared. docs/manifest.md
// documents the format.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// Reads a manifest and the source that it names. Throws Error with the place and what is wrong:
/// file, line, column and the line itself. A manifest of format 1, in JSON, is refused with what to
/// do.
Target load_manifest(const std::filesystem::path& file);

/// The same for a text, such as a plugin's. Paths in it are relative to the folder of `file`.
Target read_manifest(std::string_view text, const std::filesystem::path& file);

/// A program that prints the source of a manifest, run in the manifest's folder.
struct Generator {
  std::filesystem::path manifest, folder, source;
  std::vector<std::string> command;
};

/// The generator of a manifest file; nullopt if it has none. Neither runs it nor reads the source.
/// Throws Error as load_manifest().
std::optional<Generator> generator_of(const std::filesystem::path& file);

}  // namespace autotune
