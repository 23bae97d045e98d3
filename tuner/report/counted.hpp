// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one call, beside the values that the model and the static analysis expect.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/model/coalescing.hpp"

namespace autotune::report {

/// CounterValues by name; docs/plugin_abi.md lists the names.
using CounterValues = std::map<std::string, double>;

/// Parses `instructions=4096 …`, the stored form. Values that are not finite numbers are left out.
CounterValues counter_values(const std::string& figures);

/// Properties of a call that are known without counters; 0 or empty: unknown.
struct Expected {
  double seconds = 0;               // measured
  std::optional<double> occupancy;  // theoretical
  double flops = 0, bytes = 0;      // the work, each element once
  double l2_bytes = 0;              // by the cost model
  std::vector<KernelTraffic> accesses;
};

/// One figure: `DRAM`, `192.0 MiB read, …`, `192.0 MiB if each element moves once`.
struct CountedLine {
  std::string name;
  std::string counted;   // empty: not counted
  std::string expected;  // empty: nothing to compare with
};

/// Every figure, in the same order for all configurations. Rates are those of the measured time.
std::vector<CountedLine> counted_lines(const CounterValues& counters, const Expected& expected);

/// FLOPs of ordinary pipes and operations of tensor cores; 0 if they were not counted.
double counted_flops(const CounterValues& counters);

struct ReportedProblem;

/// Counted and expected figures of each finalist, and a sentence about finalists that were not
/// counted. Empty for a device without counters.
std::string counters_table(const ReportedProblem& problem);

}  // namespace autotune::report
