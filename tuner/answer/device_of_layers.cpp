// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/device_of_layers.hpp"

#include <algorithm>
#include <map>

#include "db/store.hpp"
#include "tuner/records/records.hpp"

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

}  // namespace autotune
