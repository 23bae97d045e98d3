// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/counters.hpp"

#include <algorithm>

#include "tuner/cli/devices.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/counting.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::filesystem::path counting_plugin(Plugins& plugins) {
  for (const PluginEntry& entry : plugins.load_all()) {
    if (entry.description && entry.description->counts) return entry.file;
  }
  throw Error(
      "no plugin counts: lib/autotune/plugins/counters.so is built where the CUDA toolkit (12.6 or "
      "later) has CUPTI; name one by --plugin FILE");
}

/// The first of several devices.
std::string first_device(const std::string& text) {
  return text == "cuda:all" ? "cuda:0" : text.substr(0, text.find(','));
}

}  // namespace

const Option kCountersOption{"counters", "",
                             "Count the finalists with hardware counters, apart from all times"};

void count_entries(const std::vector<db::TunedEntry>& entries, const Target& target,
                   Plugins& plugins, db::TunedStore& store, const std::string& device_text,
                   const std::function<void(const std::string&)>& warn) {
  const auto device = open_device(first_device(device_text), /*compile_seconds=*/60);
  require_counters(device->info());
  const auto plugin = counting_plugin(plugins);
  for (const db::TunedEntry& entry : entries) {
    if (entry.device.name != device->info().name) {
      throw Error(
          format("counters of {} cannot be taken on {}: run this on a machine with that GPU",
                 entry.device.name, device->info().name));
    }
    count_finalists(store, entry, target, *device, plugin, warn);
  }
}

std::string counters_text(const std::string& figures, const report::Expected& expected) {
  std::string text;
  for (const auto& [name, counted, analysed] :
       report::counted_lines(report::counter_values(figures), expected)) {
    if (counted.empty()) continue;
    text += format("  {:<14}{}\n", name, counted);
    if (!analysed.empty()) text += format("  {:<14}{}\n", "", analysed);
  }
  return text.empty() ? "" : "\ncounters    of one call, by the hardware\n" + text;
}

Json counters_json(const std::string& figures) {
  Json json = Json::object();
  for (const auto& [name, value] : report::counter_values(figures)) json[name] = value;
  return json;
}

std::string figures_of(const std::vector<db::CounterRow>& rows, const std::string& configuration) {
  const auto found = std::ranges::find(rows, configuration, &db::CounterRow::configuration);
  return found == rows.end() ? "" : found->figures;
}

}  // namespace autotune::cli
