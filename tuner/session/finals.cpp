// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals.hpp"

#include <algorithm>
#include <utility>

#include "tuner/session/baselines.hpp"
#include "tuner/session/finalists.hpp"

namespace autotune {
namespace {

using Warn = std::function<void(const std::string&)>;

/// Of the time that is left: for verifying the finalists, and for blocks of the playoff.
constexpr double kVerifyingShare = 0.6;
constexpr double kPlayoffShare = 0.5;

std::optional<std::size_t> stored_best(const ProblemRun& run, const Recorder& recorder) {
  const auto best = recorder.earlier_best();
  return best ? run.space().find(parse_named_values(best->configuration)) : std::nullopt;
}

/// A part of the time that is left, where that is less than the policy's.
Policy shortened(Policy policy, const Deadline& deadline) {
  policy.playoff_seconds =
      std::clamp(deadline.seconds_left() * kPlayoffShare, 0.0, policy.playoff_seconds);
  return policy;
}

/// Half-way all are loaded on new buffers, if there is time. The results of the baselines come
/// behind the others.
PlayoffResult play(ProblemRun& run, const Policy& policy, const Deadline& deadline,
                   Finalists& finalists, std::vector<BaselineCandidate>& baselines,
                   std::uint64_t seed) {
  const auto entries = [&] {
    std::vector<Finalist> all = finalists.entries();
    for (const BaselineCandidate& one : baselines) {
      all.push_back({one.candidate.get(), one.seconds, false, false, true});
    }
    return all;
  };
  const auto reallocate = [&](std::span<Finalist> again) {
    if (deadline.seconds_left() < 2 * run.phases().open) return;
    for (BaselineCandidate& one : baselines) one.candidate.reset();
    finalists.reload();
    for (BaselineCandidate& one : baselines) reload(one, run.workbench());
    std::ranges::copy(entries(), again.begin());
  };
  return play_off(entries(), policy, seed, reallocate, run.clock_hz(),
                  [&] { return deadline.has_passed(); });
}

Tuned tuned(const Configuration& configuration, const FinalistResult& result) {
  Tuned tuned{configuration, result.measurement, std::nullopt, true};
  if (result.other_l2) tuned.cold_seconds = result.other_l2->median;
  return tuned;
}

/// Those that ran, fastest first; `results` are theirs.
std::vector<BaselineReport> baseline_reports(std::span<const BaselineCandidate> baselines,
                                             std::span<const FinalistResult> results) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    if (results[i].outcome != Outcome::ok || !results[i].to_winner) continue;
    const Ratio& ratio = *results[i].to_winner;
    reports.push_back({baselines[i].source.plugin.stem().string(), baselines[i].name,
                       results[i].measurement, ratio, ratio.high < 1});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

/// Records what was timed of each finalist and the decision.
ProblemDecision publish(const ProblemRun& run, Recorder& recorder, const Finalists& finalists,
                        std::span<const BaselineCandidate> baselines, const PlayoffResult& result) {
  ProblemDecision decision;
  decision.noise_floor = result.noise_floor;
  const std::span<const LoadedFinalist> all = finalists.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FinalistResult& one = result.finalists[i];
    if (one.outcome != Outcome::ok) continue;
    const Configuration configuration = run.space().at(all[i].index);
    const bool is_default = all[i].index == run.default_index();
    Trial trial = run.trials().at(all[i].index);
    trial.measurement = one.measurement;
    recorder.record_playoff(trial, is_default);
    if (is_default) decision.default_configuration = tuned(configuration, one);
    if (i == *result.winner) {
      decision.best = tuned(configuration, one);
    } else if (one.tied) {
      decision.ties.push_back(configuration);
    }
  }
  decision.baselines = baseline_reports(baselines, std::span(result.finalists).subspan(all.size()));
  recorder.decide(decision, run.trials().at(all[*result.winner].index).binary_key);
  return decision;
}

std::vector<BaselineCandidate> baselines_in_time(ProblemRun& run, const RunContext& context,
                                                 const Deadline& deadline, const Warn& warn) {
  if (deadline.has_passed()) return {};
  return find_baselines(run.workbench(), context.baselines, warn);
}

Tuned predicted(const Trial& trial) {
  Tuned tuned;
  tuned.configuration = trial.configuration;
  const double seconds = trial.predicted_seconds.value_or(0);
  tuned.measurement.median = tuned.measurement.low = tuned.measurement.high = seconds;
  return tuned;
}

}  // namespace

FinalsSeconds finals_seconds(const ProblemRun& run, const RunContext& context) {
  constexpr double kVerifications = 4;      // of one finalist: three runs and the edge problem
  constexpr double kLeast = 2, kUsual = 6;  // finalists
  constexpr double kBaselineSeconds = 1;    // opened and verified, each library
  constexpr double kWithOtherL2 = 1.5;      // playoff with the blocks in the other L2 state
  const Policy& policy = context.policy;
  const double verification = run.phases().verify / std::max(run.measured(), 1);
  const double batch = run.best_seconds() * launches_for(run.best_seconds(), policy);
  const double blocks = std::min(policy.playoff_seconds, policy.most_blocks * (kUsual + 1) * batch);
  FinalsSeconds seconds;
  seconds.least = kLeast * kVerifications * verification + 2 * (kLeast + 1) * batch;
  seconds.usual = kUsual * kVerifications * verification + kWithOtherL2 * blocks +
                  run.phases().open +
                  kBaselineSeconds * static_cast<double>(context.baselines.size());
  return seconds;
}

ProblemDecision decide(ProblemRun& run, const RunContext& context, EdgeCheck& edge,
                       const Deadline& deadline, std::uint64_t seed, const Warn& warn) {
  Finalists finalists(run, context, edge, stored_best(run, context.recorder), warn);
  std::optional<std::vector<BaselineCandidate>> baselines;
  PlayoffResult result;
  bool has_best = false;
  while (!has_best) {
    finalists.verify(shortened(context.policy, deadline), deadline.after(kVerifyingShare));
    if (finalists.all().empty()) return {};
    if (!baselines) baselines = baselines_in_time(run, context, deadline, warn);
    result = play(run, shortened(context.policy, deadline), deadline, finalists, *baselines, seed);
    finalists.refute_failed(result.finalists);
    const bool all_right = finalists.recheck();
    has_best =
        result.winner && all_right && (finalists.hold_the_fastest() || deadline.has_passed());
  }
  return publish(run, context.recorder, finalists, *baselines, result);
}

ProblemDecision undecided(const ProblemRun& run) {
  const auto as_measured = [&](std::size_t index) -> std::optional<Tuned> {
    const auto trial = run.trials().find(index);
    if (trial == run.trials().end() || trial->second.outcome != Outcome::ok) return std::nullopt;
    return Tuned{trial->second.configuration, *trial->second.measurement, std::nullopt, false};
  };
  ProblemDecision decision;
  if (run.best()) decision.best = as_measured(*run.best());
  decision.default_configuration = as_measured(run.default_index());
  return decision;
}

ProblemDecision decide_by_prediction(const ProblemRun& run, const RunContext& context) {
  ProblemDecision decision;
  decision.predicted = true;
  const Trial* best = nullptr;
  for (const auto& [index, trial] : run.trials()) {
    if (trial.outcome != Outcome::ok || !trial.predicted_seconds) continue;
    if (!best || *trial.predicted_seconds < *best->predicted_seconds) best = &trial;
    if (index == run.default_index()) decision.default_configuration = predicted(trial);
  }
  if (!best) return decision;
  decision.best = predicted(*best);
  context.recorder.decide(decision, best->binary_key);
  return decision;
}

std::optional<ProblemDecision> stored_decision(const ProblemRun& run, const RunContext& context) {
  const auto stored = context.recorder.earlier_best();
  const bool all_taken_over = run.taken_over() == static_cast<int>(run.trials().size());
  if (!stored || !stored->median_ns || !all_taken_over) return std::nullopt;
  if (!run.space().find(parse_named_values(stored->configuration))) return std::nullopt;
  return decision_of(*stored);
}

}  // namespace autotune
