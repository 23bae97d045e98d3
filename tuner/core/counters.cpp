// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/counters.hpp"

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void require_counters(const DeviceInfo& info) {
  if (info.kind == DeviceKind::cuda) return;
  throw Error(format("{} ({}) has no hardware counters: --counters needs an NVIDIA GPU", info.name,
                     name_of(info.kind)));
}

Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin) {
  auto* const countable = dynamic_cast<Countable*>(&candidate);
  if (countable == nullptr) throw Error("this device has no hardware counters");
  return countable->counters(plugin);
}

}  // namespace autotune
