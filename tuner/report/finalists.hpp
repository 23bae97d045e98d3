// SPDX-License-Identifier: Apache-2.0
// Finalists of a result with their hardware counters and the expected values.
#pragma once

#include <string>
#include <vector>

#include "tuner/report/counted.hpp"

namespace autotune::db {
class TunedStore;
}

namespace autotune::report {

struct ReportedProblem;

struct Finalist {
  std::string role;  // `best`, `default`, `tie`
  std::string configuration;
  CounterValues counters;   // empty: not counted
  std::string environment;  // `driver 580.82, CUDA 13.0`, of the counters
  std::string counted_at;   // UTC
  Expected expected;
};

/// The best, the default and the ties of a problem that has its trials; none on a device without
/// counters. `target` may be nullptr. Throws StoreError.
std::vector<Finalist> finalists_of(const db::TunedStore& store, const ReportedProblem& problem,
                                   const Target* target);

}  // namespace autotune::report
