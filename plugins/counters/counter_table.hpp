// SPDX-License-Identifier: Apache-2.0
// Which counters there are, and the hardware metrics that each is made of.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace counters {

struct Counter {
  std::string name, unit;
  double value = 0;
};

/// Every metric that a counter is made of.
std::vector<std::string> metric_names();

/// The counters, in the order of the table, as far as the metrics are known.
std::vector<Counter> counters_of(const std::map<std::string, double>& metrics);

}  // namespace counters
