// SPDX-License-Identifier: Apache-2.0
// The plugin counters: NVIDIA's hardware counters over one call, by CUPTI's range profiler.
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "plugins/counters/counter_table.hpp"
#include "plugins/counters/range_profiler.hpp"
#include "plugins/sdk/autotune_plugin.h"

namespace {

/// Valid until the next call.
std::string reason;
std::vector<counters::Counter> counted;
std::vector<autotune_counter_v1> answer;

const char* count(int (*call)(void*), void* host, uint32_t* number,
                  const autotune_counter_v1** found) try {
  const auto metrics =
      counters::measured(counters::metric_names(), [&] { return call(host) == 0; });
  counted = counters::counters_of(metrics);
  answer.clear();
  for (const counters::Counter& one : counted) {
    answer.push_back({one.name.c_str(), one.unit.c_str(), one.value});
  }
  *number = static_cast<uint32_t>(answer.size());
  *found = answer.data();
  return nullptr;
} catch (const std::exception& error) {
  reason = error.what();
  return reason.c_str();
}

const autotune_counters_v1 counting = {count};

const void* facet(const char* id) {
  return std::strcmp(id, AUTOTUNE_FACET_COUNTERS) == 0 ? &counting : nullptr;
}

const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "counters", "1.0",
                                   "Hardware counters of NVIDIA GPUs, by CUPTI's range profiler",
                                   facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
