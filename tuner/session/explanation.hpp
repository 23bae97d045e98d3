// SPDX-License-Identifier: Apache-2.0
// Why a configuration won: what the model says of it, and what became of the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/session/pruned.hpp"

namespace autotune {

/// A tried configuration with its time and where it lies under the roofs.
struct ExplainedTrial {
  Configuration configuration;
  double seconds = 0;
  double flops_per_second = 0;
  double l2_intensity = 0;  // FLOPs a byte between L2 and the multiprocessors
};

/// A parameter that differs: `STAGES`, `3`, `4`; a value is empty where it says nothing.
struct Difference {
  std::string name, best, other;
};

struct Loser {
  ExplainedTrial trial;
  double slower = 0;  // 0.02: by 2 %
  CostEstimate estimate;
  std::vector<Difference> differences;
};

/// Trials that were not timed for the same reason, numbers in it set aside.
struct Reason {
  std::string outcome, example;
  int count = 0;
};

struct Explanation {
  bool same_source = true;  // the target has not changed since
  GpuSpec gpu;
  Calibration calibration;
  double flops = 0;
  Configuration best;
  std::optional<double> seconds;  // measured
  std::optional<double> default_seconds = {};
  CostInput input;
  CostEstimate estimate;
  std::vector<ExplainedTrial> timed;  // fastest first
  std::vector<Loser> losers;
  std::vector<Reason> reasons;  // most frequent first
  int tried = 0;
  std::optional<PruneCheck> prune_check;  // where pruned ones were measured after all
};

/// From the stored trials of a problem. `losers`: how many at most. Throws Error when the best
/// configuration is none of the target's any more.
Explanation explain(const db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                    std::size_t losers);

}  // namespace autotune
