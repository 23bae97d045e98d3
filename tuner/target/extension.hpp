// SPDX-License-Identifier: Apache-2.0
// The tree of a manifest in TOML from all its files: the manifest that it extends, and the families
// in files of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tuner/target/node.hpp"

namespace autotune {

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
