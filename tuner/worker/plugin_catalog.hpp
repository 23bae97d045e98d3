// SPDX-License-Identifier: Apache-2.0
// The plugins of a run: those that were asked for and those that are found.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/worker/remote_plugin.hpp"

namespace autotune {

/// A file that is a plugin, or the reason why it is of no use.
struct PluginEntry {
  std::filesystem::path file;
  std::optional<PluginDescription> description;
  std::string reason;
  bool given = false;  // not found
};

/// Loads `given`, then `found` unless it is among them. Throws Error when one that is given cannot
/// be used; one that is found is an entry with its reason. Of two of one name the second is
/// refused.
std::vector<PluginEntry> load_plugins(std::span<const std::filesystem::path> given,
                                      std::span<const std::filesystem::path> found,
                                      const PluginOptions& options);

/// The facets, as `search, targets, baseline`.
std::string facets_text(const PluginDescription& plugin);

}  // namespace autotune
