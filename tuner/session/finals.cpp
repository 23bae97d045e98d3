// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "tuner/measure/playoff.hpp"
#include "tuner/session/rivals.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr int kIdenticalRuns = 3;
/// Sizes of the edge problem: one past this, so that most tiles are cut, at little cost.
constexpr std::int64_t kEdgeSize = 256;

/// A finalist with what the playoff needs of it.
struct Entry {
  std::size_t index = 0;
  std::unique_ptr<Candidate> candidate;
};

bool finished(const Trial& trial) { return trial.outcome == Outcome::ok && trial.measurement; }

/// Indices of the finalists: the leaders, the default, and the stored best, without repetition.
std::vector<std::size_t> finalists(const ProblemRun& run, const Policy& policy,
                                   std::optional<std::size_t> stored) {
  std::vector<std::size_t> indices;
  std::vector<double> medians;
  for (const auto& [index, trial] : run.trials()) {
    if (!finished(trial)) continue;
    indices.push_back(index);
    medians.push_back(trial.measurement->median);
  }
  if (indices.empty()) return {};
  std::vector<std::size_t> chosen;
  for (const std::size_t at : choose_finalists(medians, policy)) chosen.push_back(indices[at]);
  const auto add = [&](std::size_t index) {
    const auto trial = run.trials().find(index);
    const bool usable = trial != run.trials().end() && finished(trial->second);
    if (usable && std::find(chosen.begin(), chosen.end(), index) == chosen.end()) {
      chosen.push_back(index);
    }
  };
  add(run.default_index());
  if (stored) add(*stored);
  return chosen;
}

/// The same target at sizes that cut most tiles; settings as they are.
Problem edge_problem(const Target& target, const Problem& problem) {
  Problem edge;
  for (const NamedValue& one : problem.values) {
    const bool is_size =
        std::find(target.sizes.begin(), target.sizes.end(), one.name) != target.sizes.end();
    if (is_size) {
      edge.values.push_back({one.name, std::min(one.value.integer(), kEdgeSize) + 1});
    } else {
      edge.values.push_back(one);
    }
  }
  return edge;
}

/// Of `verify`; what it throws is an outcome too.
template <class Verify>
Verdict verdict_of(const Verify& verify) {
  try {
    return verify();
  } catch (const KernelFailure& failure) {
    Verdict verdict;
    verdict.outcome = failure.outcome();
    verdict.message = failure.what();
    return verdict;
  }
}

/// Verifies configurations on the edge problem; opened when the first is asked for.
class EdgeCheck {
 public:
  EdgeCheck(const RunContext& context, const Problem& problem)
      : context_(context), problem_(edge_problem(context.target, problem)) {}

  /// ok as well where the configuration is not legal there.
  Verdict verify(const Configuration& configuration) {
    Verdict verdict = verdict_of([&] { return verify_there(configuration); });
    if (verdict.outcome != Outcome::ok) {
      verdict.message =
          format("on {}: {}", problem_text(context_.target, problem_), verdict.message);
    }
    return verdict;
  }

 private:
  Verdict verify_there(const Configuration& configuration) {
    const DeviceInfo& info = context_.device.info();
    if (!is_valid(context_.target, problem_, configuration, info)) return {};
    const auto kernel =
        context_.pool.compile(source_unit(context_.target, problem_, configuration, info)).get();
    if (kernel->outcome != Outcome::ok) {
      throw KernelFailure(kernel->outcome, first_error(kernel->log));
    }
    if (!bench_) {
      bench_ = context_.device.open(prepared_workload_of(context_.target, problem_, info));
    }
    return bench_->load(*kernel, launch_plan(context_.target, problem_, configuration, info))
        ->verify();
  }

  const RunContext& context_;
  Problem problem_;
  std::unique_ptr<Workbench> bench_;
};

/// Those that pass; the others are refuted.
std::vector<Entry> verified(ProblemRun& run, const RunContext& context,
                            const std::vector<std::size_t>& indices,
                            const std::function<void(const std::string&)>& warn) {
  std::vector<Entry> entries;
  EdgeCheck edge(context, run.problem());
  for (const std::size_t index : indices) {
    const Configuration configuration = run.space().at(index);
    Entry entry{index, nullptr};
    Verdict verdict = edge.verify(configuration);
    if (verdict.outcome == Outcome::ok) {
      verdict = verdict_of([&] {
        entry.candidate = run.load(index);
        return entry.candidate->verify(kIdenticalRuns);
      });
    }
    if (verdict.outcome == Outcome::ok) {
      entries.push_back(std::move(entry));
    } else {
      run.refute(index, verdict.outcome, verdict.message);
      if (warn) {
        warn(format("{}: a finalist is out ({}: {}): {}",
                    problem_text(context.target, run.problem()), name_of(verdict.outcome),
                    verdict.message,
                    configuration_text(context.target, run.problem(), configuration)));
      }
    }
  }
  return entries;
}

/// Nothing when every finalist fails to run; they are refuted then. Rivals come behind the entries.
std::optional<PlayoffResult> play(ProblemRun& run, const RunContext& context,
                                  std::vector<Entry>& entries, std::vector<Rival>& rivals,
                                  std::optional<std::size_t> stored, std::uint64_t seed) {
  std::vector<Finalist> players;
  for (const Entry& entry : entries) {
    players.push_back({entry.candidate.get(), run.trials().at(entry.index).measurement->median,
                       entry.index == run.default_index(), stored == entry.index});
  }
  for (const Rival& rival : rivals) {
    players.push_back({rival.candidate.get(), rival.seconds, false, false, true});
  }
  const auto reallocate = [&](std::span<Finalist> again) {
    for (Entry& entry : entries) entry.candidate.reset();
    for (Rival& rival : rivals) rival.candidate.reset();
    run.close_workbench();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].candidate = run.load(entries[i].index);
      again[i].timer = entries[i].candidate.get();
    }
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      reload(rivals[i], run.workbench());
      again[entries.size() + i].timer = rivals[i].candidate.get();
    }
  };
  try {
    return play_off(players, context.policy, seed, reallocate, run.clock_hz());
  } catch (const KernelFailure& failure) {
    for (const Entry& entry : entries) run.refute(entry.index, failure.outcome(), failure.what());
    return std::nullopt;
  }
}

db::BaselineFigures baseline_figures(const BaselineReport& report) {
  db::BaselineFigures figures;
  figures.plugin = report.plugin;
  figures.candidate = report.name;
  figures.ns = report.measurement.median * kNanoseconds;
  figures.low_ns = report.measurement.low * kNanoseconds;
  figures.high_ns = report.measurement.high * kNanoseconds;
  figures.wins = report.wins;
  return figures;
}

/// What the store keeps of it: no pairs, so the ratio is that of the times.
BaselineReport stored_baseline(const db::BaselineFigures& figures, double best_ns) {
  const double ns = *figures.ns;
  const double low = figures.low_ns.value_or(ns), high = figures.high_ns.value_or(ns);
  BaselineReport report{figures.plugin, figures.candidate, {}, {}, figures.wins};
  report.measurement.median = ns / kNanoseconds;
  report.measurement.low = low / kNanoseconds;
  report.measurement.high = high / kNanoseconds;
  report.to_best = {ns / best_ns, low / best_ns, high / best_ns};
  return report;
}

Tuned tuned(const ProblemRun& run, const Entry& entry, const FinalistResult& result) {
  Tuned tuned;
  tuned.configuration = run.space().at(entry.index);
  tuned.measurement = result.measurement;
  if (result.other_l2) tuned.cold_seconds = result.other_l2->median;
  tuned.verified = true;
  return tuned;
}

db::DecisionRow decision_row(const ProblemReport& report) {
  db::DecisionRow row;
  row.provenance = report.predicted ? "predicted" : "measured";
  row.configuration = to_text(report.best->configuration);
  const Measurement& times = report.best->measurement;
  row.median_ns = times.median * kNanoseconds;
  row.low_ns = times.low * kNanoseconds;
  row.high_ns = times.high * kNanoseconds;
  row.samples = times.samples;
  if (report.flops > 0 && times.median > 0) row.gflops = report.flops / times.median / 1e9;
  if (report.default_configuration) {
    row.default_configuration = to_text(report.default_configuration->configuration);
    row.default_ns = report.default_configuration->measurement.median * kNanoseconds;
  }
  row.noise_floor = report.noise_floor;
  if (report.best->cold_seconds) row.cold_ns = *report.best->cold_seconds * kNanoseconds;
  for (const Configuration& tie : report.ties) row.ties += to_text(tie) + '\n';
  row.verified = report.best->verified;
  if (!report.baselines.empty()) row.baseline = baseline_figures(report.baselines.front());
  return row;
}

/// Those that ran, fastest first; `results` are theirs.
std::vector<BaselineReport> baseline_reports(std::span<const Rival> rivals,
                                             std::span<const FinalistResult> results) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    if (results[i].outcome != Outcome::ok || !results[i].to_winner) continue;
    const Ratio& ratio = *results[i].to_winner;
    reports.push_back({rivals[i].source.plugin.stem().string(), rivals[i].name,
                       results[i].measurement, ratio, ratio.high < 1});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

std::optional<std::size_t> stored_best(const ProblemRun& run, const Recorder& recorder) {
  const auto best = recorder.earlier_best();
  return best ? run.space().find(parse_named_values(best->configuration)) : std::nullopt;
}

}  // namespace

void decide(ProblemRun& run, const RunContext& context, std::uint64_t seed, double flops,
            ProblemReport& report, const std::function<void(const std::string&)>& warn) {
  report.flops = flops;
  const auto stored = stored_best(run, context.recorder);
  std::vector<Entry> entries;
  std::vector<Rival> rivals;
  std::optional<PlayoffResult> played;
  // Refuted leaders make room for those behind them.
  while (!played) {
    const auto indices = finalists(run, context.policy, stored);
    if (indices.empty()) return;
    entries = verified(run, context, indices, warn);
    if (entries.empty()) continue;
    if (rivals.empty()) rivals = find_rivals(run.workbench(), context.baselines, warn);
    played = play(run, context, entries, rivals, stored, seed);
  }
  const PlayoffResult& result = *played;
  report.noise_floor = result.noise_floor;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const FinalistResult& one = result.finalists[i];
    if (one.outcome != Outcome::ok) {
      run.refute(entries[i].index, one.outcome, one.message);
      continue;
    }
    Trial trial = run.trials().at(entries[i].index);
    trial.measurement = one.measurement;
    context.recorder.record_playoff(trial, entries[i].index == run.default_index());
    if (entries[i].index == run.default_index()) {
      report.default_configuration = tuned(run, entries[i], one);
    }
    if (one.tied && i != result.winner) report.ties.push_back(run.space().at(entries[i].index));
  }
  report.best = tuned(run, entries[result.winner], result.finalists[result.winner]);
  report.baselines = baseline_reports(rivals, std::span(result.finalists).subspan(entries.size()));
  db::DecisionRow row = decision_row(report);
  row.binary_key = run.trials().at(entries[result.winner].index).binary_key;
  context.recorder.decide(row);
}

void decide_by_prediction(const ProblemRun& run, const RunContext& context, double flops,
                          ProblemReport& report) {
  report.flops = flops;
  report.predicted = true;
  const Trial* best = nullptr;
  const auto as_tuned = [](const Trial& trial) {
    Tuned tuned;
    tuned.configuration = trial.configuration;
    const double seconds = trial.predicted_seconds.value_or(0);
    tuned.measurement.median = tuned.measurement.low = tuned.measurement.high = seconds;
    return tuned;
  };
  for (const auto& [index, trial] : run.trials()) {
    if (trial.outcome != Outcome::ok || !trial.predicted_seconds) continue;
    if (!best || *trial.predicted_seconds < *best->predicted_seconds) best = &trial;
    if (index == run.default_index()) report.default_configuration = as_tuned(trial);
  }
  if (!best) return;
  report.best = as_tuned(*best);
  db::DecisionRow row = decision_row(report);
  row.binary_key = best->binary_key;
  context.recorder.decide(row);
}

bool take_over_decision(const ProblemRun& run, const RunContext& context, ProblemReport& report) {
  const auto stored = context.recorder.earlier_best();
  if (!stored || !stored->median_ns || run.taken_over() < static_cast<int>(run.trials().size())) {
    return false;
  }
  const auto index = run.space().find(parse_named_values(stored->configuration));
  if (!index) return false;
  Tuned best;
  best.configuration = run.space().at(*index);
  best.measurement.median = *stored->median_ns / kNanoseconds;
  best.measurement.low = stored->low_ns.value_or(*stored->median_ns) / kNanoseconds;
  best.measurement.high = stored->high_ns.value_or(*stored->median_ns) / kNanoseconds;
  best.measurement.samples = static_cast<int>(stored->samples);
  if (stored->cold_ns) best.cold_seconds = *stored->cold_ns / kNanoseconds;
  best.verified = stored->verified;
  report.best = best;
  report.noise_floor = stored->noise_floor.value_or(0);
  std::istringstream ties(stored->ties);
  for (std::string tie; std::getline(ties, tie);) report.ties.push_back(parse_named_values(tie));
  report.predicted = stored->provenance == "predicted";
  if (stored->default_ns) {
    Tuned standard;
    standard.configuration = parse_named_values(stored->default_configuration);
    standard.measurement.median = *stored->default_ns / kNanoseconds;
    report.default_configuration = standard;
  }
  if (stored->baseline.ns) {
    report.baselines.push_back(stored_baseline(stored->baseline, *stored->median_ns));
  }
  return true;
}

}  // namespace autotune
