// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pruned.hpp"

#include "tuner/measure/judge.hpp"

namespace autotune {
namespace {

AuditedTrial measured(ProblemRun& run, const Policy& policy, std::size_t index) {
  AuditedTrial trial;
  trial.index = index;
  try {
    const auto candidate = run.load(index);
    Anchor none;
    trial.seconds = judge(*candidate, 0, policy, none).measurement.median;
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
  }
  return trial;
}

}  // namespace

PruneCheck check_pruning(ProblemRun& run, const Policy& policy, double best_seconds,
                         std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> pruned;
  for (const auto& [index, trial] : run.trials()) {
    if (trial.outcome == Outcome::pruned) pruned.push_back(index);
  }
  std::vector<AuditedTrial> trials;
  for (const std::size_t index : audit_sample(pruned, count, seed)) {
    trials.push_back(measured(run, policy, index));
  }
  return {audit(best_seconds, trials), pruned.size()};
}

}  // namespace autotune
