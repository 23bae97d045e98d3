// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/counters.hpp"

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin) {
  auto* const countable = dynamic_cast<Countable*>(&candidate);
  if (countable == nullptr) {
    throw Error("this device has no hardware counters: use --device cuda:0");
  }
  return countable->counters(plugin);
}

std::string no_counters(const DeviceInfo& info) {
  if (info.kind == DeviceKind::cuda) return "";
  return format("{} ({}) has no hardware counters: use --device cuda:0", info.name,
                name_of(info.kind));
}

}  // namespace autotune
