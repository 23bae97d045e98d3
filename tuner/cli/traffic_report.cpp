// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/traffic_report.hpp"

#include "tuner/text/format.hpp"

namespace autotune::cli {

std::string traffic_text(const std::vector<KernelTraffic>& traffic, std::string_view indent) {
  std::string text;
  for (const KernelTraffic& each : traffic) {
    text += format("{}{}: {} transactions, {:.4g} % efficient\n", indent, each.access,
                   each.traffic.transactions, 100 * each.traffic.efficiency());
  }
  return text;
}

Json traffic_json(const std::vector<KernelTraffic>& traffic) {
  Json json = Json::array();
  for (const KernelTraffic& each : traffic) {
    json.push_back({{"kernel", each.entry},
                    {"access", each.access},
                    {"requests", each.traffic.requests},
                    {"transactions", each.traffic.transactions},
                    {"bytes_asked", each.traffic.bytes_asked},
                    {"bytes_moved", each.traffic.bytes_moved},
                    {"efficiency", each.traffic.efficiency()}});
  }
  return json;
}

}  // namespace autotune::cli
