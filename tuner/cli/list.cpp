// SPDX-License-Identifier: Apache-2.0
// autotune list: targets, strategies, devices, plugins.
#include <algorithm>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// A line of a list; `more` is for --json alone.
struct Row {
  std::string name, text;
  Json more = Json::object();
};
using Rows = std::vector<Row>;

Rows targets(Plugins& plugins) {
  Rows rows;
  for (const CatalogEntry& entry : list_targets()) {
    try {
      rows.push_back({entry.name, load_manifest(entry.manifest).description});
    } catch (const Error& error) {
      rows.push_back({entry.name, format("cannot be used: {}", error.what())});
    }
  }
  for (const PluginEntry& entry : plugins.load_all()) {
    if (!entry.description) continue;
    try {
      for (const Target& target : plugin_targets(*entry.description, {})) {
        rows.push_back(
            {target.name, format("{} (plugin {})", target.description, entry.description->name)});
      }
    } catch (const Error& error) {
      rows.push_back({entry.description->name, format("cannot be used: {}", error.what())});
    }
  }
  return rows;
}

Rows search_strategies(Plugins& plugins) {
  plugins.load_all();
  Rows rows;
  for (const StrategyRow& strategy : strategies()) {
    rows.push_back({strategy.name, strategy.description});
  }
  return rows;
}

Rows devices(Plugins&) {
  Rows rows;
  for (const ListedDevice& device : list_devices()) {
    const DeviceInfo& info = device.info;
    std::string text = info.name;
    if (info.compute_capability > 0) {
      text += format(", compute capability {}.{}", info.compute_capability / 10,
                     info.compute_capability % 10);
    }
    text += format(", {} {}", info.multiprocessors,
                   info.kind == DeviceKind::host ? "cores" : "multiprocessors");
    if (info.memory_bytes > 0) text += ", " + bytes_text(info.memory_bytes);
    rows.push_back({device.option, text});
  }
  return rows;
}

Rows plugins(Plugins& plugins) {
  Rows rows;
  for (const PluginEntry& entry : plugins.load_all()) {
    const std::string file = entry.file.string();
    if (!entry.description) {
      rows.push_back({entry.file.stem().string(),
                      format("cannot be used: {}", entry.reason),
                      {{"file", file}, {"usable", false}}});
      continue;
    }
    const PluginDescription& plugin = *entry.description;
    const std::string facets = facets_text(plugin);
    rows.push_back(
        {plugin.name,
         format("{}, {}: {}, {}", plugin.version, facets, plugin.description, file),
         {{"version", plugin.version}, {"facets", facets}, {"file", file}, {"usable", true}}});
  }
  return rows;
}

/// What the arguments of `list` ask for.
Rows rows_of(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() > 1)
    throw UsageError("list takes one word: give each list a command of its own");
  Plugins loaded(arguments);
  if (words[0] == "targets") return targets(loaded);
  if (words[0] == "strategies") return search_strategies(loaded);
  return words[0] == "devices" ? devices(loaded) : plugins(loaded);
}

int run_list(const Arguments& arguments) {
  const Rows rows = rows_of(arguments);
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.name.size());
  Json document = Json::array();
  for (const Row& row : rows) {
    Json item{{"name", row.name}, {"description", row.text}};
    item.update(row.more);
    document.push_back(std::move(item));
    if (!arguments.has("json")) std::cout << format("{:<{}}  {}\n", row.name, width, row.text);
  }
  if (arguments.has("json")) std::cout << json_text(document) << '\n';
  return kDone;
}

}  // namespace

const Verb kList{
    .name = "list",
    .synopsis = "targets|strategies|devices|plugins [--plugin FILE] [--json]",
    .summary = "List targets, strategies, devices or plugins",
    .details = {},
    .options = {kPluginOption, {"json", "", "Print a JSON array of {name, description, …}"}},
    .positional = "KIND",
    .words = "targets strategies devices plugins",
    .run = run_list};

std::vector<std::string> listed_names(const std::string& kind) {
  std::vector<std::string> names;
  for (Row& row : rows_of(Arguments(kList, {kind}))) names.push_back(std::move(row.name));
  return names;
}

}  // namespace autotune::cli
