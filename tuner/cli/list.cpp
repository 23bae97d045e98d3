// SPDX-License-Identifier: Apache-2.0
// autotune list: what there is to tune, with what, on what.
#include <algorithm>
#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// A list as rows of the same keys; the first key names the row.
using Rows = std::vector<std::pair<std::string, std::string>>;

Rows targets() {
  Rows rows;
  for (const CatalogEntry& entry : list_targets()) {
    try {
      rows.emplace_back(entry.name, load_manifest(entry.manifest).description);
    } catch (const Error& error) {
      rows.emplace_back(entry.name, format("cannot be used: {}", error.what()));
    }
  }
  return rows;
}

Rows search_strategies() {
  Rows rows;
  for (const StrategyRow& strategy : strategies()) {
    rows.emplace_back(strategy.name, strategy.description);
  }
  return rows;
}

Rows devices() {
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
    rows.emplace_back(device.option, text);
  }
  return rows;
}

Rows plugins() { return {}; }

int run_list(const Arguments& arguments) {
  static const std::vector<std::pair<std::string, Rows (*)()>> kLists{
      {"targets", targets},
      {"strategies", search_strategies},
      {"devices", devices},
      {"plugins", plugins}};
  std::vector<std::string> kinds;
  for (const auto& [kind, make] : kLists) kinds.push_back(kind);
  if (arguments.positional().size() != 1) {
    throw UsageError("list needs one of targets, strategies, devices, plugins");
  }
  const std::string& kind = arguments.positional()[0];
  const auto chosen = std::find(kinds.begin(), kinds.end(), kind);
  if (chosen == kinds.end()) {
    throw UsageError(format("there is no list of \"{}\": {}", kind, suggestion(kind, kinds)));
  }
  const Rows rows = kLists[static_cast<std::size_t>(chosen - kinds.begin())].second();
  std::size_t width = 0;
  for (const auto& [name, text] : rows) width = std::max(width, name.size());
  Json document = Json::array();
  for (const auto& [name, text] : rows) {
    document.push_back({{"name", name}, {"description", text}});
    if (!arguments.has("json")) std::cout << format("{:<{}}  {}\n", name, width, text);
  }
  if (arguments.has("json")) std::cout << document.dump(2) << '\n';
  return kDone;
}

}  // namespace

extern const Verb kList;
const Verb kList{.name = "list",
                 .synopsis = "targets|strategies|devices|plugins [--json]",
                 .summary = "What there is to tune, with what, on what",
                 .details = {},
                 .options = {{"json", "", "Print a JSON array of {name, description}"}},
                 .positional = "KIND",
                 .run = run_list};

}  // namespace autotune::cli
