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

/// `--plugin`, repeatable: what is named must be of use.
extern const Option kPluginOption;

/// Loads what `--plugin` names at once; what is found in the plugin folders only when a name is not
/// known without; one of no use is a warning then. Strategies of loaded plugins are in
/// strategies(). Must outlive what it makes.
class Plugins {
 public:
  /// Throws Error when one that is named cannot be used.
  explicit Plugins(const Arguments& arguments);
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  /// Where warnings about plugins at work go; stderr at first.
  void warn_with(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  /// What a target's hooks are at when it says that the run is over is given up.
  void stop_when(std::function<bool()> stop) { stop_ = std::move(stop); }

  /// Also those in the plugin folders; one that is of no use is an entry with its reason.
  const std::vector<PluginEntry>& load_all();
  /// Like autotune::find_target(), and in plugins.
  Target find_target(const std::string& name);
  /// Sees to it that make_strategy() knows the name if any plugin does. Throws UsageError.
  void provide_strategy(const std::string& name);
  /// Of the loaded ones. A bad manifest of one that was found is a warning.
  std::vector<Target> targets() const;
  /// Every plugin that is a baseline, for a target.
  std::vector<BaselineSource> baselines(const std::string& target);

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
