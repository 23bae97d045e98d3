// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/chosen_gpu.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

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
