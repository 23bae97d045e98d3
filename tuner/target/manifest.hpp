// SPDX-License-Identifier: Apache-2.0
// Manifests, NAME.target.toml: how a kernel and its tunable space are declared. docs/manifest.md
// documents the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"

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

// The tree of a manifest in TOML from all its files: the manifest that it extends, and the families
// in files of their own.

/// Most bytes of a manifest or source.
inline constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

/// The text of a file. Throws Error at the place of `node`, which names the file.
std::string text_of(const std::filesystem::path& file, const Node& node);

/// Throws Error unless the manifest has the format's number.
void require_version(const Node& root);

/// `root` with the keys of the manifest that it extends, and with a table `families` in place of a
/// list of files. Throws Error with the place, also for two families or parts of one name.
Node assembled(Node root);

}  // namespace autotune
