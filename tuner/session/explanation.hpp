// SPDX-License-Identifier: Apache-2.0
// Explains a result: the cost model's view of the best configuration, and what became of the
// others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/access_traffic.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/records/reasons.hpp"
#include "tuner/session/search_health.hpp"

namespace autotune {

/// A timed configuration and its place in the roofline plot.
struct ExplainedTrial {
  Configuration configuration;
  double seconds = 0;
  double flops_per_second = 0;
  double l2_intensity = 0;  // FLOPs per byte between L2 and the multiprocessors
  double tensor_roof = 0;   // FLOP/s; 0: it does not use tensor cores
};

/// A parameter that differs, such as `STAGES`, `3`, `4`. A value is empty if the parameter has no
/// meaning there.
struct Difference {
  std::string name, best, other;
};

struct Loser {
  ExplainedTrial trial;
  double slower = 0;  // 0.02: by 2 %
  CostEstimate estimate;
  std::vector<Difference> differences;
};

struct Explanation {
  bool same_source = true;  // the target has not changed since it was tuned
  GpuSpec gpu;
  Calibration calibration;
  double flops = 0;
  double tensor_roof = 0;  // of any configuration that was timed
  Configuration best;
  std::optional<double> seconds;  // measured
  std::optional<double> default_seconds = {};
  CostInput input;
  CostEstimate estimate;
  std::vector<KernelTraffic> accesses;  // of the best, as far as they are declared; none on a host
  std::vector<ExplainedTrial> timed;    // fastest first
  std::vector<Loser> losers;
  std::vector<Reason> reasons;  // most frequent first
  int tried = 0;
  SearchHealth health;
};

/// Explains the stored result of a problem, with at most `losers` losers. Throws Error if the best
/// configuration is no longer valid for the target.
Explanation explain(const db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                    std::size_t losers);

}  // namespace autotune
