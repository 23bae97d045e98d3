// SPDX-License-Identifier: Apache-2.0
// The plugins of a run: requested ones, and those found in plugin folders. Each call of a plugin
// runs in a process of its own, which may crash or hang, and ends with the call.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

struct PluginOptions {
  /// A plugin that sends nothing for this long is killed.
  double silence_seconds = 30;
  /// Whether the run is over. A hook that has not returned one second later is abandoned. May be
  /// empty. Strategies ask their evaluator instead.
  std::function<bool()> has_ended;
  /// Receives one sentence about a strategy that failed; may be empty.
  std::function<void(const std::string&)> warn;
};

/// Loads the plugin in its own process and returns its description. Throws Error with the file, and
/// what is wrong or how the process ended.
PluginDescription describe_plugin(const std::filesystem::path& file,
                                  const PluginOptions& options = {});

/// A strategy that runs in the plugin's process. If the process dies or falls silent, or the
/// strategy gives a reason, requests an invalid configuration or requests nothing, it warns, and
/// the default strategy uses the remaining budget. It throws only what the evaluator throws.
std::unique_ptr<SearchStrategy> plugin_strategy(const PluginDescription& plugin,
                                                const std::string& name, PluginOptions options);

/// The targets of a plugin. Their hooks run in its process when a workload is prepared. Throws
/// Error if a manifest is wrong.
std::vector<Target> plugin_targets(const PluginDescription& plugin, const PluginOptions& options);

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
