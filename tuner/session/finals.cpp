// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/baselines.hpp"
#include "tuner/session/context_decision.hpp"
#include "tuner/session/energy_choice.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/finals_time.hpp"
#include "tuner/session/playoff.hpp"

namespace autotune {
namespace {

using Warn = std::function<void(const std::string&)>;

std::optional<std::size_t> stored_best(const ProblemRun& run) {
  const auto best = run.recorder().earlier_best();
  return best ? run.space().find(parse_named_values(best->configuration)) : std::nullopt;
}

Tuned tuned(const Configuration& configuration, const FinalistResult& result,
            const std::optional<Energy>& energy) {
  Tuned tuned{configuration, result.measurement, std::nullopt, true};
  if (result.other_l2) tuned.cold_seconds = result.other_l2->median;
  tuned.other_contexts = result.other_contexts;
  tuned.energy = energy;
  return tuned;
}

/// Each under the key of its own context. What a call takes in order is no context of a program.
/// Times do not decide where energy counts.
void publish_other_contexts(const ProblemRun& run, const Finalists& finalists,
                            std::span<const BaselineCandidate> baselines,
                            const PlayoffResult& result) {
  if (run.policy().objective != Objective::time) return;
  PlayedOff played{{}, std::nullopt, baselines, result};
  for (const LoadedFinalist& one : finalists.all()) {
    if (one.index == run.default_index()) played.by_default = played.finalists.size();
    played.finalists.push_back(run.space().at(one.index));
  }
  Policy policy = run.policy();
  for (const CallContext context : other_contexts(run.policy())) {
    if (context == CallContext::in_order) continue;
    auto there = decision_in(context, played, run.policy());
    if (!there) continue;
    there->decision.best->repeats = finalists.all()[there->winner].repeats;
    policy.context = context;
    const std::size_t index = finalists.all()[there->winner].index;
    run.recorder().decide(there->decision, run.ledger().trials().at(index).binary_key,
                          key_text(policy));
  }
}

/// Records what was timed of each finalist and the decision.
ProblemDecision publish(const ProblemRun& run, const Finalists& finalists,
                        std::span<const BaselineCandidate> baselines, const PlayoffResult& result,
                        const Energies& energies) {
  ProblemDecision decision;
  decision.noise_floor = result.noise_floor;
  const std::span<const LoadedFinalist> all = finalists.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FinalistResult& one = result.finalists[i];
    if (one.outcome != Outcome::ok) continue;
    const Configuration configuration = run.space().at(all[i].index);
    const bool is_default = all[i].index == run.default_index();
    Trial trial = run.ledger().trials().at(all[i].index);
    trial.measurement = one.measurement;
    run.recorder().record_playoff(trial, is_default);
    Tuned figures = tuned(configuration, one, energies[i]);
    figures.repeats = all[i].repeats;
    if (is_default) decision.default_configuration = figures;
    if (figures.energy) decision.front.push_back(figures);
    if (i == *result.winner) {
      decision.best = figures;
    } else if (one.tied) {
      decision.ties.push_back(configuration);
    }
  }
  decision.front = pareto_front(std::move(decision.front));
  decision.baselines = baseline_reports(baselines, std::span(result.finalists).subspan(all.size()));
  run.recorder().decide(decision, run.ledger().trials().at(all[*result.winner].index).binary_key);
  publish_other_contexts(run, finalists, baselines, result);
  return decision;
}

std::vector<BaselineCandidate> baselines_in_time(ProblemRun& run, const Deadline& deadline,
                                                 const Warn& warn) {
  if (deadline.has_passed()) return {};
  return find_baselines(run.bench().workbench(), run.baselines(), warn);
}

Tuned predicted(const Trial& trial) {
  Tuned tuned;
  tuned.configuration = trial.configuration;
  const double seconds = trial.predicted_seconds.value_or(0);
  tuned.measurement.median = tuned.measurement.low = tuned.measurement.high = seconds;
  return tuned;
}

}  // namespace

ProblemDecision decide(ProblemRun& run, EdgeCheck& edge, const Deadline& deadline,
                       std::uint64_t seed, const Warn& warn) {
  Finalists finalists(run, edge, stored_best(run), warn);
  std::optional<std::vector<BaselineCandidate>> baselines;
  PlayoffResult result;
  Energies energies;
  bool has_best = false;
  while (!has_best) {
    finalists.verify(shortened(run.policy(), deadline), verifying_deadline(deadline));
    if (finalists.all().empty()) return {};
    const Device::Turn turn = run.device().take_turn();
    if (!baselines) baselines = baselines_in_time(run, deadline, warn);
    result =
        play_off(run, finalists, *baselines, shortened(run.policy(), deadline), deadline, seed);
    finalists.refute_failed(result.finalists);
    energies = measured_energies(run.policy(), finalists, result, deadline, warn);
    const bool all_right = finalists.recheck();
    has_best =
        result.winner && all_right && (finalists.hold_the_fastest() || deadline.has_passed());
  }
  decide_by_energy(run.policy(), finalists, energies, result);
  return publish(run, finalists, *baselines, result, energies);
}

ProblemDecision undecided(const ProblemRun& run) {
  const TrialLedger& ledger = run.ledger();
  const auto as_measured = [&](std::size_t index) -> std::optional<Tuned> {
    if (!ledger.is_timed(index)) return std::nullopt;
    const Trial& trial = ledger.trials().at(index);
    return Tuned{trial.configuration, *trial.measurement, std::nullopt, false};
  };
  ProblemDecision decision;
  if (ledger.fastest()) decision.best = as_measured(*ledger.fastest());
  decision.default_configuration = as_measured(run.default_index());
  return decision;
}

ProblemDecision decide_by_prediction(const ProblemRun& run) {
  ProblemDecision decision;
  decision.predicted = true;
  const Trial* best = nullptr;
  for (const auto& [index, trial] : run.ledger().trials()) {
    if (trial.outcome != Outcome::ok || !trial.predicted_seconds) continue;
    if (!best || *trial.predicted_seconds < *best->predicted_seconds) best = &trial;
    if (index == run.default_index()) decision.default_configuration = predicted(trial);
  }
  if (!best) return decision;
  decision.best = predicted(*best);
  run.recorder().decide(decision, best->binary_key);
  return decision;
}

std::optional<ProblemDecision> stored_decision(const ProblemRun& run) {
  const auto stored = run.recorder().earlier_best();
  const TrialLedger& ledger = run.ledger();
  const bool all_taken_over = ledger.taken_over() == static_cast<int>(ledger.trials().size());
  if (!stored || !stored->median_ns || !all_taken_over) return std::nullopt;
  if (!run.space().find(parse_named_values(stored->configuration))) return std::nullopt;
  const std::string space = run.recorder().space_of(*stored);
  if (!space.empty() && space != run.target().space_fingerprint) return std::nullopt;
  return decision_of(*stored);
}

}  // namespace autotune
