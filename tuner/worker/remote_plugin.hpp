// SPDX-License-Identifier: Apache-2.0
// A plugin as the tool sees it: in a process of its own, which it may crash or hang, and which ends
// when the call does.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "tuner/core/target.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

struct PluginOptions {
  /// A plugin that says nothing for so long is killed.
  double silence_seconds = 30;
  /// Whether the run is over: what a hook has not answered a second later is given up. May be
  /// empty. A strategy asks its evaluator.
  std::function<bool()> has_ended;
  /// Gets one sentence about a strategy that failed; may be empty.
  std::function<void(const std::string&)> warn;
};

/// Loads it in a process of its own and asks what it is. Throws Error: the file, and what is wrong
/// with it or how it ended.
PluginDescription describe_plugin(const std::filesystem::path& file,
                                  const PluginOptions& options = {});

/// Searches in the plugin's process. When that dies, falls silent, gives a reason, asks for what is
/// no configuration or asks nothing at all, it warns, and what is left of the budget goes to the
/// default strategy: nothing is thrown but what the evaluator throws.
std::unique_ptr<SearchStrategy> plugin_strategy(const PluginDescription& plugin,
                                                const std::string& name, PluginOptions options);

/// The targets of a plugin. Their hooks run in its process when a workload is prepared. Throws
/// Error where a manifest is wrong.
std::vector<Target> plugin_targets(const PluginDescription& plugin, const PluginOptions& options);

}  // namespace autotune
