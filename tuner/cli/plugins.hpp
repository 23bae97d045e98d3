// SPDX-License-Identifier: Apache-2.0
// The plugins of one command.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune::cli {

/// `--plugin`, repeatable.
extern const Option kPluginOption;

/// Loads plugins of `--plugin` at once. Loads those in plugin folders only when a name is unknown
/// without them; an unusable one is then a warning. Strategies of loaded plugins are in
/// strategies(). Must outlive everything it makes.
class Plugins {
 public:
  /// Throws Error if a plugin of `--plugin` is unusable.
  explicit Plugins(const Arguments& arguments);
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  /// Sets the receiver of warnings about running plugins; initially stderr.
  void warn_with(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  /// When this returns true, a running hook of a target is given up.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Also loads the plugins in the plugin folders. An unusable plugin is an entry with its reason.
  const std::vector<PluginEntry>& load_all();
  /// Like autotune::find_target(), and also searches plugins.
  Target find_target(const std::string& name);
  /// Loads a plugin with this strategy, if a plugin has it. Throws UsageError.
  void provide_strategy(const std::string& name);
  /// The targets of loaded plugins.
  std::vector<Target> targets() const;
  /// Every plugin that is a baseline on such a device, for a target. On the host, an unusable
  /// plugin in a folder is no news: it may be for GPUs.
  std::vector<BaselineSource> baselines(const std::string& target,
                                        DeviceKind kind = DeviceKind::cuda);

 private:
  void load(bool all);
  void take(PluginEntry& entry);
  const std::vector<PluginEntry>& usable();

  std::vector<std::filesystem::path> given_;
  std::function<void(const std::string&)> warn_;
  std::function<bool()> stop_;
  PluginOptions options_;
  std::vector<PluginEntry> entries_;
  bool all_loaded_ = false;
};

}  // namespace autotune::cli
