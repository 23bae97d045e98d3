// SPDX-License-Identifier: Apache-2.0
// The plugins of a run: requested ones, and those found in plugin folders.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/worker/remote_plugin.hpp"

namespace autotune {

/// A plugin's file, or the reason why it is unusable.
struct PluginEntry {
  std::filesystem::path file;
  std::optional<PluginDescription> description;
  std::string reason;
  bool given = false;  // not found
};

/// Loads `given`, then those of `found` that are not among them. Throws Error if a given plugin is
/// unusable; an unusable found plugin is an entry with its reason. Of two plugins with one name,
/// the second is refused.
std::vector<PluginEntry> load_plugins(std::span<const std::filesystem::path> given,
                                      std::span<const std::filesystem::path> found,
                                      const PluginOptions& options);

/// The facets, as `search, targets, baseline, counters`.
std::string facets_text(const PluginDescription& plugin);

}  // namespace autotune
