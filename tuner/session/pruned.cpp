// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pruned.hpp"

#include "tuner/measure/in_context.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {
namespace {

/// The trial of the search, taken to its end.
Trial measured(ProblemRun& run, std::size_t index) {
  Trial trial = run.ledger().trials().at(index);
  trial.outcome = Outcome::ok;
  trial.message.clear();
  trial.measurement.reset();
  try {
    const auto candidate = run.load(index);
    const Device::Turn turn = run.device().take_turn();
    InContext timer(*candidate, run.policy().context);
    Anchor none;
    trial.measurement = judge(timer, 0, run.policy(), none).measurement;
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
  }
  return trial;
}

}  // namespace

AuditedTrial audited(const Trial& trial) {
  AuditedTrial result;
  result.outcome = trial.outcome;
  if (trial.measurement) result.seconds = trial.measurement->median;
  return result;
}

PruneCheck check_pruning(ProblemRun& run, double best_seconds, std::size_t count,
                         std::uint64_t seed, const std::function<bool()>& stop) {
  std::vector<std::size_t> pruned;
  for (const auto& [index, trial] : run.ledger().trials()) {
    if (trial.outcome == Outcome::pruned) pruned.push_back(index);
  }
  std::vector<AuditedTrial> trials;
  for (const std::size_t index : audit_sample(pruned, count, seed)) {
    if (stop()) break;
    const Trial trial = measured(run, index);
    run.recorder().record_audit(trial);
    trials.push_back(audited(trial));
  }
  return {audit(best_seconds, trials), pruned.size()};
}

}  // namespace autotune
