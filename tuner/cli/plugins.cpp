// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/devices.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

bool is_strategy(const std::string& name) {
  return std::ranges::any_of(strategies(),
                             [&](const StrategyRow& row) { return row.name == name; });
}

bool is_in_catalog(const std::string& name) {
  return is_manifest_path(name) || !manifest_called(name).empty();
}

}  // namespace

const Option kPluginOption{"plugin", "FILE", "Load this plugin", {}, true};

Plugins::Plugins(const Arguments& arguments)
    : warn_([](const std::string& sentence) { std::cerr << "warning: " << sentence << '\n'; }) {
  for (const std::string& file : arguments.all(kPluginOption.name)) given_.emplace_back(file);
  options_.has_ended = [this] { return stop_ && stop_(); };
  options_.warn = [this](const std::string& sentence) { warn_(sentence); };
  load(false);
}

void Plugins::load(bool all) {
  const auto found = all ? plugin_files() : std::vector<std::filesystem::path>{};
  std::vector<PluginEntry> entries = load_plugins(given_, found, options_);
  for (std::size_t i = entries_.size(); i < entries.size(); ++i) take(entries[i]);
  entries_ = std::move(entries);
  all_loaded_ = all;
}

/// A plugin from a folder whose strategy has a taken name is left out. If the plugin was asked for,
/// that is an error.
void Plugins::take(PluginEntry& entry) {
  if (!entry.description) return;
  const PluginDescription plugin = *entry.description;
  try {
    for (const PluginDescription::Strategy& strategy : plugin.strategies) {
      add_strategy({strategy.name, strategy.description, [plugin, strategy, options = options_] {
                      return plugin_strategy(plugin, strategy.name, options);
                    }});
    }
  } catch (const UsageError& error) {
    entry.reason = plugin.file.string() + ": " + error.what();
    entry.description.reset();
    if (entry.given) throw UsageError(entry.reason);
  }
}

const std::vector<PluginEntry>& Plugins::load_all() {
  if (!all_loaded_) load(true);
  return entries_;
}

/// Warns once of each unusable plugin.
const std::vector<PluginEntry>& Plugins::usable() {
  const bool is_news = !all_loaded_;
  load_all();
  for (const PluginEntry& entry : entries_) {
    if (is_news && !entry.description) warn_("a plugin is left out: " + entry.reason);
  }
  return entries_;
}

Target Plugins::find_target(const std::string& name) {
  const auto in_plugins = [&]() -> std::optional<Target> {
    for (Target& target : targets()) {
      if (target.name == name) return std::move(target);
    }
    return std::nullopt;
  };
  if (auto target = in_plugins()) return *std::move(target);
  if (name.ends_with(".cu")) {
    throw UsageError(format("{} is a kernel and no manifest: `autotune init {}` writes one", name,
                            shell_text({{name}})));
  }
  if (!is_in_catalog(name)) {
    usable();
    if (auto target = in_plugins()) return *std::move(target);
  }
  return autotune::find_target(name);
}

void Plugins::provide_strategy(const std::string& name) {
  if (!is_strategy(name)) usable();
  make_strategy(name);
}

std::vector<Target> Plugins::targets() const {
  std::vector<Target> targets;
  for (const PluginEntry& entry : entries_) {
    if (!entry.description) continue;
    try {
      std::ranges::move(plugin_targets(*entry.description, options_), std::back_inserter(targets));
    } catch (const Error& error) {
      if (entry.given) throw;
      warn_(format("the targets of plugin {} are left out: {}", entry.description->name,
                   error.what()));
    }
  }
  return targets;
}

std::vector<BaselineSource> Plugins::baselines(const std::string& target, DeviceKind kind) {
  std::vector<BaselineSource> sources;
  if (kind != DeviceKind::cuda && kind != DeviceKind::host) return sources;
  for (const PluginEntry& entry : kind == DeviceKind::host ? load_all() : usable()) {
    if (entry.description && entry.description->is_baseline_on(kind)) {
      sources.push_back({entry.file, target});
    }
  }
  return sources;
}

}  // namespace autotune::cli
