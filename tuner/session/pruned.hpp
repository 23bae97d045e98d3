// SPDX-License-Identifier: Apache-2.0
// The prune audit: measures pruned configurations in full.
#pragma once

#include "tuner/core/trial.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/model/prune_audit.hpp"

#include <functional>

namespace autotune {

class ProblemRun;

/// The result of the audit, and the number of pruned configurations.
struct PruneCheck {
  PruneAudit audit;
  std::size_t pruned = 0;
};

/// A trial as input of the audit.
AuditedTrial audited(const Trial& trial);

/// Measures a random sample of `count` pruned configurations and compares them with `best_seconds`.
/// The trials are stored with stage `audit`. No measurement begins after `stop` returns true.
PruneCheck check_pruning(ProblemRun& run, double best_seconds, std::size_t count,
                         std::uint64_t seed, const std::function<bool()>& stop);

}  // namespace autotune
