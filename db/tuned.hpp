// SPDX-License-Identifier: Apache-2.0
// Common parts of reading best rows. Included by db/*.cpp only.
#pragma once

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "db/connection.hpp"

namespace autotune::db {

/// Calls `use` for each device and kernel that the filter takes.
template <class Use>
void each_pair(const TunedStore& store, const TunedFilter& filter, Use&& use) {
  const std::vector<DeviceRow> devices = store.devices();
  for (const KernelRow& kernel : store.kernels()) {
    if (!filter.target.empty() && kernel.target != filter.target) continue;
    for (const DeviceRow& device : devices) {
      if (filter.device_name.empty() || device.name == filter.device_name) use(device, kernel);
    }
  }
}

/// The order of TunedStore::tuned().
inline bool comes_before(const TunedEntry& a, const TunedEntry& b) {
  const auto order = [](const TunedEntry& entry) {
    const std::string& problem = entry.best.key.problem;
    return std::make_tuple(std::cref(entry.kernel.target), std::cref(entry.device.name),
                           problem.size(), std::cref(problem), std::cref(entry.best.key.policy));
  };
  const auto order_a = order(a), order_b = order(b);
  if (order_a < order_b || order_b < order_a) return order_a < order_b;
  return a.best.created_at > b.best.created_at;
}

}  // namespace autotune::db
