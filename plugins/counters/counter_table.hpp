// SPDX-License-Identifier: Apache-2.0
// The table of counters, and the hardware metrics that each is computed from.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace counters {

struct Counter {
  std::string name, unit;
  double value = 0;
};

/// Every metric that the counters need.
std::vector<std::string> metric_names();

/// The counters whose metrics are known, in the order of the table.
std::vector<Counter> counters_of(const std::map<std::string, double>& metrics);

}  // namespace counters
