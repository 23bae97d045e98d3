// SPDX-License-Identifier: Apache-2.0
// Rank 0 of a whole run, by the clock.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/ranks/lead.hpp"

namespace autotune::testing {

/// Leads until the run is over. Returns what each kind of device found.
inline std::vector<GroupReport> lead_run(const Target& target, db::TunedStore& store,
                                         Transport& transport, const TuningRequest& request) {
  LeadOptions options;
  options.request_for = [&](const DeviceInfo&) { return request; };
  Lead lead(target, store, transport, options, steady_seconds());
  for (lead.tick(steady_seconds()); !lead.is_over(); lead.tick(steady_seconds())) {
    while (const auto packet = transport.receive()) lead.take(*packet, steady_seconds());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  lead.end();
  return lead.reports(1);
}

}  // namespace autotune::testing
