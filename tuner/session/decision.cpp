// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/decision.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kNanoseconds = 1e9;

db::BaselineFigures figures_of(const BaselineReport& report) {
  db::BaselineFigures figures;
  figures.plugin = report.plugin;
  figures.candidate = report.name;
  figures.ns = report.measurement.median * kNanoseconds;
  figures.low_ns = report.measurement.low * kNanoseconds;
  figures.high_ns = report.measurement.high * kNanoseconds;
  figures.wins = report.wins;
  return figures;
}

BaselineReport baseline_of(const db::BaselineFigures& figures, double best_seconds) {
  BaselineReport report{figures.plugin, figures.candidate, {}, {}, figures.wins};
  const Measurement times = measurement_of({figures.ns, figures.low_ns, figures.high_ns, 0});
  report.measurement = times;
  report.to_best = {times.median / best_seconds, times.low / best_seconds,
                    times.high / best_seconds};
  return report;
}

Tuned best_of(const db::BestRow& row) {
  Tuned best;
  best.configuration = parse_named_values(row.configuration);
  best.measurement = measurement_of(row);
  if (row.cold_ns) best.cold_seconds = *row.cold_ns / kNanoseconds;
  best.verified = row.verified;
  if (row.joules) best.energy = Energy{*row.joules};
  best.repeats = row.repeats;
  return best;
}

}  // namespace

db::DecisionRow row_of(const ProblemDecision& decision, double flops,
                       const std::string& binary_key) {
  db::DecisionRow row;
  const Measurement& times = decision.best->measurement;
  row.provenance = decision.predicted ? "predicted" : "measured";
  row.configuration = to_text(decision.best->configuration);
  static_cast<db::Times&>(row) = times_of(times);
  if (flops > 0 && times.median > 0) row.gflops = flops / times.median / 1e9;
  if (decision.default_configuration) {
    row.default_configuration = to_text(decision.default_configuration->configuration);
    row.default_ns = decision.default_configuration->measurement.median * kNanoseconds;
    const std::optional<Energy>& energy = decision.default_configuration->energy;
    if (energy) row.default_joules = energy->joules;
  }
  row.noise_floor = decision.noise_floor;
  if (decision.best->cold_seconds) row.cold_ns = *decision.best->cold_seconds * kNanoseconds;
  if (decision.best->energy) row.joules = decision.best->energy->joules;
  for (const Configuration& tie : decision.ties) row.ties += to_text(tie) + '\n';
  row.verified = decision.best->verified;
  row.repeats = decision.best->repeats;
  row.binary_key = binary_key;
  if (!decision.baselines.empty()) row.baseline = figures_of(decision.baselines.front());
  return row;
}

ProblemDecision decision_of(const db::BestRow& row) {
  ProblemDecision decision;
  decision.best = best_of(row);
  decision.noise_floor = row.noise_floor.value_or(0);
  // By energy, the margin followed from figures that are not stored.
  if (!row.joules) decision.tie_margin = tie_margin(Policy{}, decision.noise_floor);
  decision.predicted = row.provenance == "predicted";
  std::istringstream ties(row.ties);
  for (std::string tie; std::getline(ties, tie);) decision.ties.push_back(parse_named_values(tie));
  if (row.default_ns) {
    Tuned& by_default = decision.default_configuration.emplace();
    by_default.configuration = parse_named_values(row.default_configuration);
    by_default.measurement.median = *row.default_ns / kNanoseconds;
    if (row.default_joules) by_default.energy = Energy{*row.default_joules};
  }
  if (row.baseline.ns) {
    decision.baselines.push_back(baseline_of(row.baseline, decision.best->measurement.median));
  }
  return decision;
}

namespace {

/// Of the entry `i`, or nullptr.
const Measurement* time_of(const PlayoffResult& result, std::size_t i, CallContext context) {
  const FinalistResult& one = result.finalists[i];
  const auto found = one.other_contexts.find(context);
  return one.outcome == Outcome::ok && found != one.other_contexts.end() ? &found->second : nullptr;
}

std::optional<Tuned> tuned(const PlayedOff& played, std::size_t i, CallContext context) {
  const Measurement* const time = time_of(played.result, i, context);
  if (time == nullptr) return std::nullopt;
  return Tuned{played.finalists[i], *time, std::nullopt, true};
}

bool has_interval(const Measurement& time) { return time.samples >= kFewestForInterval; }

std::size_t winner_in(CallContext context, const PlayedOff& played, const Policy& policy) {
  std::size_t winner = *played.result.winner;
  const Measurement holder = *time_of(played.result, winner, context);
  double least = holder.median * (1 - policy.replace_margin);
  for (std::size_t i = 0; i < played.finalists.size(); ++i) {
    const Measurement* const time = time_of(played.result, i, context);
    if (time == nullptr || time->median >= least || time->high >= holder.low) continue;
    if (!has_interval(*time) || !has_interval(holder)) continue;
    least = time->median;
    winner = i;
  }
  return winner;
}

/// Their ratios are those of the times, without pairs. With too few samples for an interval, a
/// baseline wins where it wins in the policy's context.
std::vector<BaselineReport> baselines_in(CallContext context, const PlayedOff& played,
                                         const Measurement& best) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < played.baselines.size(); ++i) {
    const std::size_t number = played.finalists.size() + i;
    const Measurement* const time = time_of(played.result, number, context);
    if (time == nullptr) continue;
    const Ratio ratio{time->median / best.median, time->low / best.high, time->high / best.low,
                      std::min(time->samples, best.samples)};
    const std::optional<Ratio>& decided = played.result.finalists[number].to_winner;
    const bool wins = is_clearly_below_one(
        has_interval(*time) && has_interval(best) ? ratio : decided.value_or(Ratio{}));
    const BaselineCandidate& one = played.baselines[i];
    reports.push_back({one.source.plugin.stem().string(), one.name, *time, ratio, wins});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

}  // namespace

std::optional<ContextDecision> decision_in(CallContext context, const PlayedOff& played,
                                           const Policy& policy) {
  const bool is_timed =
      played.result.winner && time_of(played.result, *played.result.winner, context) != nullptr;
  if (!is_timed) return std::nullopt;
  ContextDecision there;
  there.winner = winner_in(context, played, policy);
  there.decision.best = tuned(played, there.winner, context);
  if (played.by_default) {
    there.decision.default_configuration = tuned(played, *played.by_default, context);
  }
  there.decision.baselines = baselines_in(context, played, there.decision.best->measurement);
  return there;
}

namespace {

/// Of one library, beside its default.
constexpr std::size_t kMostOthers = 2;
constexpr int kMostLaunches = 10, kBatches = 3;
constexpr double kBatchSeconds = 1e-3;

/// The least of a few batches: enough to tell which are worth a place in the playoff.
double quick_seconds(Candidate& candidate) {
  double least = candidate.time(1, L2State::hot).seconds;
  const double affordable = kBatchSeconds / std::max(least, 1e-9);
  const auto launches = static_cast<int>(std::clamp(affordable, 1.0, 1.0 * kMostLaunches));
  for (int i = 0; i < kBatches; ++i) {
    least = std::min(least, candidate.time(launches, L2State::hot).seconds);
  }
  return least;
}

/// Throws KernelFailure if it cannot be used.
BaselineCandidate baseline_of(Workbench& bench, const BaselineSource& source, std::size_t number,
                              const std::string& name) {
  BaselineCandidate baseline{source, number, name, bench.load_baseline(source, number), 0};
  const Verdict verdict = baseline.candidate->verify();
  if (verdict.outcome != Outcome::ok) throw KernelFailure(verdict.outcome, verdict.message);
  baseline.seconds = quick_seconds(*baseline.candidate);
  return baseline;
}

/// The library's default and the fastest others. Throws Error if it has candidates and none can be
/// used.
std::vector<BaselineCandidate> baselines_of(Workbench& bench, const BaselineSource& source) {
  std::vector<BaselineCandidate> found;
  const std::vector<std::string> names = bench.baselines(source);
  std::string reason;
  for (std::size_t i = 0; i < names.size(); ++i) {
    try {
      found.push_back(baseline_of(bench, source, i, names[i]));
    } catch (const KernelFailure& failure) {
      reason = format("{}: {}: {}", names[i], name_of(failure.outcome()), failure.what());
    }
  }
  if (found.empty() && !reason.empty()) throw Error(reason);
  if (found.empty()) return found;
  const auto others = found.begin() + (found.front().number == 0 ? 1 : 0);
  std::sort(others, found.end(),
            [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  const auto kept = static_cast<std::size_t>(others - found.begin()) + kMostOthers;
  if (found.size() > kept) found.erase(found.begin() + static_cast<long>(kept), found.end());
  return found;
}

}  // namespace

void reload(BaselineCandidate& baseline, Workbench& bench) {
  baseline.candidate = reloaded([&]() -> std::unique_ptr<Candidate> {
    try {
      return bench.load_baseline(baseline.source, baseline.number);
    } catch (const Error& error) {
      throw KernelFailure(Outcome::launch_error, error.what());
    }
  });
}

std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn) {
  std::vector<BaselineCandidate> all;
  for (const BaselineSource& source : sources) {
    std::string reason;
    try {
      for (BaselineCandidate& baseline : baselines_of(bench, source))
        all.push_back(std::move(baseline));
    } catch (const Error& error) {
      reason = error.what();
    } catch (const KernelFailure& failure) {
      reason = failure.what();
    }
    if (!reason.empty() && warn) {
      warn(format("baseline {} is left out: {}", source.plugin.stem().string(), reason));
    }
  }
  return all;
}

void Baselines::find(Workbench& bench, const std::function<void(const std::string&)>& warn) {
  if (are_found()) return;
  found_ = find_baselines(bench, sources_, warn);
  for (BaselineCandidate& one : *found_) one.candidate.reset();
}

std::vector<BaselineCandidate>& Baselines::loaded(Workbench& bench) {
  if (!found_) found_.emplace();
  for (BaselineCandidate& one : *found_) {
    if (!one.candidate) reload(one, bench);
  }
  return *found_;
}

}  // namespace autotune
