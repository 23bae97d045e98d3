// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tuner/session/trial_evaluator.hpp"
#include "tuner/target/old_names.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Of the time that is left: for verifying the finalists, and for blocks of the playoff.
constexpr double kVerifyingShare = 0.6;
constexpr double kPlayoffShare = 0.5;

/// What finals cost.
constexpr double kVerifications = 4;      // of a finalist: three runs and the edge problem
constexpr double kLeast = 2, kUsual = 6;  // finalists
constexpr double kWithOtherL2 = 1.5;      // playoff with its blocks in the other L2 state
constexpr double kOtherContext = 0.4;     // a playoff's blocks in another context
constexpr double kBaselineSeconds = 0.3;  // to load a candidate of a library again

}  // namespace

FinalsSeconds finals_seconds(const ProblemRun& run) {
  const Policy& policy = run.policy();
  const Bench& bench = run.bench();
  const double best = run.ledger().best_seconds();
  const double verification = bench.phases().verify / std::max(bench.measured(), 1);
  // Of two finalists or more, the A/A pair and the libraries' candidates.
  // A batch takes no less than its part of the search: the start of a program, too.
  const double shortest =
      bench.phases().measure / std::max(bench.measured(), 1) / policy.most_batches;
  const double batch = std::max(best * launches_for(best, policy), shortest);
  const auto baselines = static_cast<double>(run.baselines().size());
  const auto blocks_of = [&](double finalists) { return (finalists + 1 + baselines) * batch; };
  const double blocks = std::min(policy.playoff_seconds, policy.most_blocks * blocks_of(kUsual));
  FinalsSeconds seconds;
  seconds.least = kLeast * kVerifications * verification + kFewestForInterval * blocks_of(kLeast);
  const auto contexts = static_cast<double>(other_contexts(policy).size());
  seconds.usual = kUsual * kVerifications * verification +
                  (kWithOtherL2 + kOtherContext * contexts) * blocks + bench.phases().open +
                  kBaselineSeconds * baselines;
  seconds.usual = std::max(seconds.usual, seconds.least);
  return seconds;
}

namespace {

/// The deadline for verifying finalists; it leaves time for the playoff.
Deadline verifying_deadline(const Deadline& deadline) { return deadline.after(kVerifyingShare); }

/// The policy with a playoff that ends by the deadline.
Policy shortened(Policy policy, const Deadline& deadline) {
  policy.playoff_seconds =
      std::clamp(deadline.seconds_left() * kPlayoffShare, 0.0, policy.playoff_seconds);
  return policy;
}

}  // namespace

PlayoffResult play_off(ProblemRun& run, Finalists& finalists,
                       std::vector<BaselineCandidate>& baselines, const Policy& policy,
                       const Deadline& deadline, std::uint64_t seed) {
  const auto entries = [&] {
    std::vector<Finalist> all = finalists.entries();
    for (const BaselineCandidate& one : baselines) {
      all.push_back({one.candidate.get(), one.seconds, false, false, true});
    }
    return all;
  };
  const auto reallocate = [&](std::span<Finalist> again) {
    if (deadline.seconds_left() < 2 * run.bench().phases().open) return;
    for (BaselineCandidate& one : baselines) one.candidate.reset();
    finalists.reload();
    for (BaselineCandidate& one : baselines) reload(one, run.bench().workbench());
    std::ranges::copy(entries(), again.begin());
  };
  PlayoffResult result = play_off(entries(), policy, seed, reallocate, run.bench().clock_hz(),
                                  [&] { return deadline.has_passed(); });
  const double floor = run.bench().time_floor();
  for (std::size_t i = 0; i < finalists.all().size(); ++i) {
    FinalistResult& one = result.finalists[i];
    const double seconds = one.measurement.median;
    if (one.outcome != Outcome::ok || seconds >= floor) continue;
    one = failed_finalist(Outcome::launch_error, too_fast_text(seconds, floor));
  }
  return result;
}

namespace {

/// The baselines that ran, fastest first. `results` belong to `baselines`.
std::vector<BaselineReport> baseline_reports(std::span<const BaselineCandidate> baselines,
                                             std::span<const FinalistResult> results) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    if (results[i].outcome != Outcome::ok || !results[i].to_winner) continue;
    const Ratio& ratio = *results[i].to_winner;
    reports.push_back({baselines[i].source.plugin.stem().string(), baselines[i].name,
                       results[i].measurement, ratio, is_clearly_below_one(ratio)});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

using Warn = std::function<void(const std::string&)>;

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

/// Of a finalist with the winner, in blocks or rounds under load.
int fewest_pairs(std::span<const FinalistResult> results) {
  int fewest = kFewestForInterval;
  for (const FinalistResult& one : results) {
    if (one.to_winner) fewest = std::min(fewest, one.to_winner->samples);
  }
  return fewest;
}

/// Records what was timed of each finalist and the decision.
ProblemDecision publish(const ProblemRun& run, const Finalists& finalists,
                        std::span<const BaselineCandidate> baselines, const PlayoffResult& result,
                        const Energies& energies) {
  ProblemDecision decision;
  decision.noise_floor = result.noise_floor;
  decision.tie_margin = result.tie_margin;
  if (result.is_open) decision.open_after_blocks = fewest_pairs(result.finalists);
  const std::span<const LoadedFinalist> all = finalists.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FinalistResult& one = result.finalists[i];
    if (one.outcome != Outcome::ok) continue;
    const Configuration configuration = run.space().at(all[i].index);
    const bool is_default = all[i].index == run.default_index();
    Trial trial = run.ledger().trials().at(all[i].index);
    trial.measurement = one.measurement;
    run.recorder().record(trial, is_default, Recorder::Stage::playoff);
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

/// What programs get takes part even if this run did not try it.
std::optional<std::size_t> tried_holder(ProblemRun& run, const Deadline& deadline) {
  const auto given = run.given();
  const bool has_rival = run.ledger().fastest().has_value();
  if (given && has_rival && !deadline.has_passed()) TrialEvaluator(run, 0).try_anyway(*given);
  return given;
}

/// Whether it is not known if it works: it is untried, or the machine failed.
bool is_untried(const ProblemRun& run, std::size_t index) {
  const auto trial = run.ledger().trials().find(index);
  return trial == run.ledger().trials().end() || trial->second.of_machine;
}

ProblemDecision out_of_time(std::string before) {
  ProblemDecision decision;
  decision.undone = std::move(before);
  return decision;
}

/// What is missing for a comparison, in words; empty if nothing is.
std::string missing(const ProblemRun& run, const Finalists& finalists,
                    std::optional<std::size_t> given, const Deadline& deadline) {
  if (finalists.all().empty()) return "a finalist was verified";
  if (given && is_untried(run, *given)) return "what programs get was tried";
  if (const auto holder = finalists.holder(); holder && !finalists.holds(*holder)) {
    return format("{} was verified", holder == given ? "what programs get" : "the default");
  }
  const bool has_libraries = run.baselines().are_found() || !deadline.has_passed();
  return has_libraries ? "" : "the vendor's library was timed";
}

/// Whether a library took part in too few blocks to tell whether it is faster.
bool is_library_open(std::span<const FinalistResult> baselines) {
  return std::ranges::any_of(baselines, [](const FinalistResult& one) {
    return one.to_winner && one.to_winner->samples < kFewestForInterval;
  });
}

void warn_of_failed(std::span<const BaselineCandidate> baselines,
                    std::span<const FinalistResult> results, const Warn& warn) {
  for (std::size_t i = 0; i < baselines.size() && warn; ++i) {
    if (results[i].outcome == Outcome::ok) continue;
    warn(format("baseline {} {} is left out: {}", baselines[i].source.plugin.stem().string(),
                baselines[i].name, results[i].message));
  }
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
  const std::optional<std::size_t> given = tried_holder(run, deadline);
  Finalists finalists(run, edge, given, warn);
  for (;;) {
    finalists.verify(shortened(run.policy(), deadline), verifying_deadline(deadline));
    if (!run.ledger().fastest()) {
      const bool is_tried = run.ledger().trials().contains(run.default_index());
      return is_tried ? ProblemDecision() : out_of_time("the default was tried");
    }
    const std::string before = missing(run, finalists, given, deadline);
    if (!before.empty()) return out_of_time(before);

    const Device::Turn turn = run.device().take_turn();
    run.find_baselines();
    std::vector<BaselineCandidate>& baselines = run.baselines().loaded(run.bench().workbench());
    PlayoffResult result =
        play_off(run, finalists, baselines, shortened(run.policy(), deadline), deadline, seed);
    if (!finalists.refute_failed(result.finalists)) continue;
    const auto energies = measured_energies(run.policy(), finalists, result, deadline);
    if (!energies || !finalists.recheck()) continue;
    if (!finalists.hold_the_fastest() && !deadline.has_passed()) continue;

    const auto of_baselines = std::span(result.finalists).subspan(finalists.all().size());
    warn_of_failed(baselines, of_baselines, warn);
    if (is_library_open(of_baselines)) {
      return out_of_time("the vendor's library was timed often enough");
    }
    decide_by_energy(run.policy(), finalists, *energies, result);
    return publish(run, finalists, baselines, result, *energies);
  }
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
  if (!space.empty() && !is_same_space(space, run.target().space_fingerprint)) return std::nullopt;
  return decision_of(*stored);
}

namespace {

constexpr std::size_t kFewest = 2;  // measured whatever the time

/// What is to be least; infinite where the energy is not known.
double figure_of(const Policy& policy, const std::optional<Energy>& energy,
                 const FinalistResult& result) {
  if (!energy) return std::numeric_limits<double>::infinity();
  return policy.objective == Objective::energy ? energy->joules
                                               : energy->joules * result.measurement.median;
}

/// What programs get, else the default.
std::optional<std::size_t> holder_of(const std::vector<Finalist>& entries,
                                     const std::vector<double>& figures) {
  std::optional<std::size_t> holder;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (figures[i] == std::numeric_limits<double>::infinity()) continue;
    if (entries[i].is_given) return i;
    if (entries[i].is_default) holder = i;
  }
  return holder;
}

double largest_resolution(const Energies& energies) {
  double largest = 0;
  for (const auto& energy : energies) {
    if (energy) largest = std::max(largest, energy->resolution);
  }
  return largest;
}

}  // namespace

std::optional<Energies> measured_energies(const Policy& policy, Finalists& finalists,
                                          const PlayoffResult& result, const Deadline& deadline) {
  Energies energies(finalists.all().size());
  if (policy.objective == Objective::time) return energies;
  std::size_t measured = 0;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    if (result.finalists[i].outcome != Outcome::ok) continue;
    if (measured++ >= kFewest && deadline.has_passed()) break;
    const LoadedFinalist& one = finalists.all()[i];
    try {
      energies[i] = one.candidate->energy(policy.energy_seconds, policy.l2);
    } catch (const KernelFailure& failure) {
      finalists.refute(one.index, {failure.outcome(), failure.what()});
      return std::nullopt;
    }
  }
  return energies;
}

void decide_by_energy(const Policy& policy, const Finalists& finalists, const Energies& energies,
                      PlayoffResult& result) {
  if (policy.objective == Objective::time || !result.winner) return;
  std::vector<double> figures;
  for (std::size_t i = 0; i < energies.size(); ++i) {
    figures.push_back(figure_of(policy, energies[i], result.finalists[i]));
  }
  const auto least = std::ranges::min_element(figures);
  if (least == figures.end() || *least == std::numeric_limits<double>::infinity()) return;
  const double hidden = 2 * largest_resolution(energies);
  const auto holder = holder_of(finalists.entries(), figures);
  const double replacing = std::max(policy.replace_margin, hidden);
  const bool stays = holder && figures[*holder] <= *least * (1 + replacing);
  result.winner = stays ? *holder : static_cast<std::size_t>(least - figures.begin());
  result.tie_margin = tie_margin(policy, hidden);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    result.finalists[i].tied = figures[i] <= *least * (1 + result.tie_margin);
  }
}

std::vector<Tuned> pareto_front(std::vector<Tuned> all) {
  std::ranges::sort(all, {}, [](const Tuned& one) {
    return std::pair(one.measurement.median, one.energy->joules);
  });
  std::vector<Tuned> front;
  for (Tuned& one : all) {
    const bool better = front.empty() || one.energy->joules < front.back().energy->joules;
    if (better) front.push_back(std::move(one));
  }
  return front;
}

}  // namespace autotune
