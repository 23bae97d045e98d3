// SPDX-License-Identifier: Apache-2.0
// The traffic of declared accesses to global memory, as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/model/access_traffic.hpp"

namespace autotune::cli {

/// A line for each access, after `indent`.
std::string traffic_text(const std::vector<KernelTraffic>& traffic, std::string_view indent);
Json traffic_json(const std::vector<KernelTraffic>& traffic);

}  // namespace autotune::cli
