// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/device_of_layers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::optional<DeviceInfo> device_of_layers(std::span<const db::Layer> layers,
                                           const std::string& target, const std::string& name,
                                           std::vector<std::string>& remarks) {
  std::map<std::string, std::pair<std::size_t, db::DeviceRow>> found;
  for (const db::Layer& layer : layers) {
    try {
      const db::TunedStore store = layer.open();
      for (const db::TunedEntry& entry : store.tuned({name, target, "", ""})) {
        auto& [count, row] = found[entry.device.name];
        ++count;
        row = entry.device;
      }
    } catch (const std::exception& error) {
      remarks.emplace_back(error.what());
    }
    if (!found.empty()) break;
  }
  const auto most = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  if (most == found.end()) return std::nullopt;
  return device_of(most->second.second);
}

std::optional<int> chosen_gpu(std::span<const DeviceInfo> gpus, const std::string& name,
                              int ordinal) {
  const auto is_meant = [&](const DeviceInfo& gpu) { return name.empty() || gpu.name == name; };
  const auto first = std::ranges::find_if(gpus, is_meant);
  if (first == gpus.end()) return std::nullopt;
  if (ordinal == 0) return static_cast<int>(first - gpus.begin());
  if (std::cmp_greater_equal(ordinal, gpus.size())) {
    throw Error(format("there is no GPU {} here: the last one is {}", ordinal, gpus.size() - 1));
  }
  const DeviceInfo& gpu = gpus[static_cast<std::size_t>(ordinal)];
  if (is_meant(gpu)) return ordinal;
  throw Error(format("GPU {} here is called {}, not {}: leave out the name or the ordinal", ordinal,
                     gpu.name, name));
}

}  // namespace autotune
