// SPDX-License-Identifier: Apache-2.0
// Configurations that the search gave up after a glance, measured to the end after all.
#pragma once

#include "tuner/core/trial.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/model/prune_audit.hpp"

#include <functional>

namespace autotune {

class ProblemRun;
class Recorder;

/// The answer, and how many there were to sample from.
struct PruneCheck {
  PruneAudit audit;
  std::size_t pruned = 0;
};

/// What the audit makes of a trial.
AuditedTrial audited(const Trial& trial);

/// Measures `count` of the run's pruned configurations and compares them with `best_seconds`. They
/// are stored as what they are: a sample drawn for an audit is no search. None is begun once `stop`
/// says so.
PruneCheck check_pruning(ProblemRun& run, Recorder& recorder, const Policy& policy,
                         double best_seconds, std::size_t count, std::uint64_t seed,
                         const std::function<bool()>& stop);

}  // namespace autotune
