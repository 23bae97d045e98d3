// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_catalog.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

PluginEntry entry_of(const fs::path& file, std::span<const PluginEntry> others,
                     const PluginOptions& options) {
  PluginEntry entry{file, std::nullopt, {}, false};
  try {
    PluginDescription plugin = describe_plugin(file, options);
    for (const PluginEntry& other : others) {
      if (!other.description || other.description->name != plugin.name) continue;
      throw Error(format("{}: the name {} is taken by {}: rename or remove one of them",
                         file.string(), plugin.name, other.file.string()));
    }
    entry.description = std::move(plugin);
  } catch (const Error& error) {
    entry.reason = error.what();
  }
  return entry;
}

}  // namespace

std::vector<PluginEntry> load_plugins(std::span<const fs::path> given,
                                      std::span<const fs::path> found,
                                      const PluginOptions& options) {
  std::vector<PluginEntry> entries;
  const auto add = [&](const fs::path& named, bool asked_for) {
    const fs::path file = fs::weakly_canonical(named);
    if (std::ranges::find(entries, file, &PluginEntry::file) != entries.end()) return;
    entries.push_back(entry_of(file, entries, options));
    entries.back().given = asked_for;
    if (asked_for && !entries.back().description) throw Error(entries.back().reason);
  };
  for (const fs::path& file : given) add(file, true);
  for (const fs::path& file : found) add(file, false);
  return entries;
}

std::string facets_text(const PluginDescription& plugin) {
  std::string text;
  const auto add = [&](bool has, const char* facet) {
    if (!has) return;
    if (!text.empty()) text += ", ";
    text += facet;
  };
  add(!plugin.strategies.empty(), "search");
  add(!plugin.targets.empty(), "targets");
  add(plugin.is_baseline, "baseline");
  add(plugin.counts, "counters");
  return text.empty() ? "nothing" : text;
}

}  // namespace autotune
