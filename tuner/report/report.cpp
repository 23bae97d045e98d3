// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report.hpp"

#include <chrono>
#include <cstdio>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/records/records.hpp"
#include "tuner/replay/replay.hpp"
#include "tuner/report/verdict.hpp"
#include "tuner/text/figures.hpp"

namespace autotune::report {
namespace {

/// Seconds since 1970 of `2026-03-01T12:00:00.250000Z`; 0 for any other text.
double seconds_of(const std::string& text) {
  int year = 0, hour = 0, minute = 0;
  unsigned month = 0, day = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%d-%u-%uT%d:%d:%lf", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return 0;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) + 3600.0 * hour + 60.0 * minute + second;
}

}  // namespace

std::vector<double> elapsed_of(const std::vector<db::TrialRow>& trials) {
  std::vector<double> elapsed;
  double before = 0, now = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double time = seconds_of(trials[i].created_at);
    const bool goes_on = i > 0 && trials[i].session == trials[i - 1].session;
    if (goes_on) now += std::max(0.0, time - before);
    before = time;
    elapsed.push_back(now);
  }
  return elapsed;
}

std::vector<Spent> spent_on(const std::vector<db::TrialRow>& trials) {
  const std::vector<double> elapsed = elapsed_of(trials);
  std::map<std::pair<std::string, std::string>, Spent> by_kind;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const db::TrialRow& trial = trials[i];
    Spent& spent = by_kind[{trial.stage, trial.outcome}];
    spent.stage = trial.stage;
    spent.outcome = trial.outcome;
    ++spent.trials;
    if (i > 0) spent.elapsed_seconds += elapsed[i] - elapsed[i - 1];
    // A finalist's row of the playoff repeats the compile time of its row of the search.
    if (trial.stage != "playoff") spent.compile_seconds += trial.compile_seconds;
  }
  std::vector<Spent> all;
  for (auto& [kind, spent] : by_kind) all.push_back(std::move(spent));
  std::ranges::stable_sort(all, std::greater(), &Spent::elapsed_seconds);
  return all;
}

namespace {

constexpr std::string_view kCounting = "cuda";  // the kind of devices that have counters

const db::TrialRow* latest_timed(const ReportedProblem& problem, const std::string& configuration) {
  const auto found = std::find_if(problem.trials.rbegin(), problem.trials.rend(), [&](auto& row) {
    return row.configuration == configuration && row.outcome == "ok" && row.median_ns;
  });
  return found == problem.trials.rend() ? nullptr : &*found;
}

double seconds_of(const ReportedProblem& problem, const std::string& configuration,
                  const db::TrialRow* trial) {
  const db::BestRow& best = problem.entry.best;
  if (configuration == best.configuration) return best.median_ns.value_or(0) * kNanosecond;
  const bool is_default = configuration == best.default_configuration && best.default_ns;
  if (is_default) return *best.default_ns * kNanosecond;
  return trial ? *trial->median_ns * kNanosecond : 0;
}

/// Expected values from the target, as far as it still fits the configuration.
void add_analysis(Expected& expected, const ReportedProblem& problem, const Target& target,
                  const std::string& text) {
  try {
    const DeviceInfo device = device_of(problem.entry.device);
    const Problem asked{parse_named_values(problem.entry.best.key.problem)};
    const Configuration configuration = parse_named_values(text);
    expected.accesses = traffic_of(gpu_spec(device).sm, target, asked, device, configuration);
    const auto levels = levels_of(target.parameters, configuration);
    if (!levels) return;
    const CostEstimate model =
        SizedCostModel(target, asked, device).estimate(*levels, sizes_of(target, asked));
    if (model.l2_intensity > 0) {
      expected.l2_bytes = expected.flops / model.l2_intensity * sizeof(float);
    }
  } catch (const std::exception&) {  // it has changed since
  }
}

std::string role_of(const db::BestRow& best, const std::string& configuration) {
  if (configuration == best.configuration) return "best";
  return configuration == best.default_configuration ? "default" : "tie";
}

Finalist finalist(const ReportedProblem& problem, const std::string& configuration,
                  const Target* target) {
  Finalist one{role_of(problem.entry.best, configuration), configuration, {}, "", "", {}};
  const db::TrialRow* const trial = latest_timed(problem, configuration);
  one.expected.seconds = seconds_of(problem, configuration, trial);
  one.expected.flops = problem.work.flops;
  one.expected.bytes = problem.work.bytes;
  if (trial) one.expected.occupancy = trial->occupancy;
  if (target) add_analysis(one.expected, problem, *target, configuration);
  return one;
}

}  // namespace

std::vector<Finalist> finalists_of(const db::TunedStore& store, const ReportedProblem& problem,
                                   const Target* target) {
  std::vector<Finalist> finalists;
  if (problem.entry.device.kind != kCounting) return finalists;
  const std::vector<db::CounterRow> rows = db::counters_of(store, problem.entry.best.key);
  for (const std::string& configuration : autotune::finalists_of(problem.entry.best)) {
    finalists.push_back(finalist(problem, configuration, target));
    const auto row = std::ranges::find(rows, configuration, &db::CounterRow::configuration);
    if (row == rows.end()) continue;
    finalists.back().counters = counter_values(row->figures);
    finalists.back().environment = row->environment;
    finalists.back().counted_at = row->created_at;
  }
  return finalists;
}

namespace {

/// Entries of one problem, whatever their context.
using Place = std::tuple<std::string, std::string, std::string, std::string>;
Place place_of(const db::TunedEntry& entry) {
  const db::ProblemKey& key = entry.best.key;
  return {key.device, key.kernel, key.problem,
          std::string(db::stored_policy(key.policy).without_context)};
}

std::vector<std::int64_t> sizes_of(const db::TunedEntry& entry) {
  const NamedValues values = parse_named_values(entry.best.key.problem);
  std::istringstream names(entry.kernel.sizes);
  std::vector<std::int64_t> sizes;
  for (std::string name; names >> name;) {
    const Value* const value = find_value(values, name);
    if (value && value->is_integer()) sizes.push_back(value->integer());
  }
  return sizes;
}

std::optional<std::int64_t> side_of(const std::vector<std::int64_t>& sizes) {
  const bool alike = std::ranges::all_of(sizes, [&](auto size) { return size == sizes.front(); });
  return alike && !sizes.empty() ? std::optional(sizes.front()) : std::nullopt;
}

/// FLOPs and bytes by the target, else FLOPs by the stored rate.
Work work_of(const db::TunedEntry& entry, const Target* target) {
  const db::BestRow& best = entry.best;
  Work work;
  if (best.gflops && best.median_ns) work.flops = *best.gflops * *best.median_ns;
  if (!target) return work;
  try {
    const Problem problem{parse_named_values(best.key.problem)};
    const Work known = autotune::work_of(*target, problem, device_of(entry.device));
    return known.flops > 0 || known.bytes > 0 ? known : work;
  } catch (const Error&) {  // it has changed since
    return work;
  }
}

std::optional<Roofs> roofs_of(const db::TunedStore& store, const db::TunedEntry& entry) {
  if (entry.device.compute_capability <= 0) return std::nullopt;
  try {
    const GpuSpec gpu = gpu_spec(device_of(entry.device));
    double l2_bytes_per_cycle = Calibration{}.l2_bytes_per_cycle;
    for (const db::CalibrationRow& row : store.calibration(entry.device.id)) {
      if (row.name == "l2_bytes_per_cycle") l2_bytes_per_cycle = row.value;
    }
    return Roofs{gpu.flops_per_second(), gpu.memory_bytes_per_second,
                 l2_bytes_per_cycle * gpu.multiprocessors * gpu.clock_hz};
  } catch (const Error&) {  // a GPU newer than this program
    return std::nullopt;
  }
}

/// Sets the intensity of each trial and the tensor cores' roof, if the target's model gives them.
void place_under_roofs(ReportedProblem& problem, const Target* target) {
  if (!target || !problem.roofs || problem.work.flops <= 0) return;
  try {
    const Problem asked{parse_named_values(problem.entry.best.key.problem)};
    const SizedCostModel model(*target, asked, device_of(problem.entry.device));
    const std::vector<std::int64_t> sizes = autotune::sizes_of(*target, asked);
    std::vector<double> all;
    double tensor = 0;
    for (const db::TrialRow& trial : problem.trials) {
      const auto levels = levels_of(target->parameters, parse_named_values(trial.configuration));
      const CostEstimate estimate = levels ? model.estimate(*levels, sizes) : CostEstimate();
      all.push_back(estimate.l2_intensity / sizeof(float));
      tensor = std::max(tensor, estimate.tensor_roof);
    }
    problem.intensity = std::move(all);
    problem.roofs->tensor_flops_per_second = tensor;
  } catch (const Error&) {  // it has changed since
  }
}

std::optional<Importance> importance_of(const std::vector<db::TrialRow>& trials) {
  try {
    const RecordedSpace recorded = recorded_space("", recorded_trials(trials));
    return autotune::importance_of(recorded.space, recorded.answers);
  } catch (const Error&) {  // more combinations than a space can have
    return std::nullopt;
  }
}

ReportedProblem problem_of(const db::TunedStore& store, const db::TunedEntry& entry,
                           const Target* target) {
  ReportedProblem problem;
  problem.entry = entry;
  const Problem asked{parse_named_values(entry.best.key.problem)};
  problem.name = target ? problem_text(*target, asked) : asked.text();
  const auto shown = [&](const std::string& stored) {
    return target ? configuration_text(*target, asked, stored, device_of(entry.device)) : stored;
  };
  problem.best_text = shown(entry.best.configuration);
  problem.default_text = shown(entry.best.default_configuration);
  for (const std::string& tie : ties_of(problem)) {
    problem.ties_text += (problem.ties_text.empty() ? "" : "; ") + shown(tie);
  }
  problem.side = side_of(sizes_of(entry));
  problem.work = work_of(entry, target);
  problem.roofs = roofs_of(store, entry);
  problem.trials = store.standing(entry.best.key);
  problem.seconds_elapsed = elapsed_of(problem.trials);
  place_under_roofs(problem, target);
  problem.importance = importance_of(problem.trials);
  problem.finalists = finalists_of(store, problem, target);
  problem.bits = class_of(store, problem.entry.best);
  return problem;
}

/// Moves entries without trials that differ from another one only in context to its `contexts`.
std::vector<ReportedProblem> with_contexts(std::vector<ReportedProblem> problems) {
  std::map<Place, std::vector<ReportedProblem*>> alike;
  for (ReportedProblem& problem : problems) alike[place_of(problem.entry)].push_back(&problem);
  std::vector<ReportedProblem> kept;
  for (ReportedProblem& problem : problems) {
    const auto& same = alike.at(place_of(problem.entry));
    const bool others_searched = std::ranges::any_of(
        same, [&](const ReportedProblem* one) { return one != &problem && !one->trials.empty(); });
    if (problem.trials.empty() && (others_searched || same.front() != &problem)) continue;
    for (const ReportedProblem* one : same) {
      const db::BestRow& best = one->entry.best;
      if (one == &problem || !best.median_ns) continue;
      problem.contexts.push_back(
          {std::string(db::stored_policy(best.key.policy).context), *best.median_ns * kNanosecond});
    }
    kept.push_back(problem);
  }
  return kept;
}

/// The best time of each problem on a CPU, by target and problem.
void compare_with_cpu(std::vector<ReportedProblem>& problems) {
  std::map<std::pair<std::string, std::string>, double> cpu;
  const auto key_of = [](const ReportedProblem& one) {
    return std::pair(one.entry.kernel.target, one.entry.best.key.problem);
  };
  for (const ReportedProblem& one : problems) {
    const auto& ns = one.entry.best.median_ns;
    if (one.entry.device.kind == "host" && ns) cpu[key_of(one)] = *ns * kNanosecond;
  }
  for (ReportedProblem& one : problems) {
    const auto found = cpu.find(key_of(one));
    if (one.entry.device.kind != "host" && found != cpu.end()) one.cpu_seconds = found->second;
  }
}

/// By target and device, small problems first.
void sort_by_size(std::vector<ReportedProblem>& problems) {
  std::ranges::stable_sort(problems, {}, [](const ReportedProblem& one) {
    return std::tuple(one.entry.kernel.target, one.entry.device.name, one.work.flops,
                      one.work.bytes, one.side.value_or(0));
  });
}

}  // namespace

std::vector<ReportedProblem> collect(const db::TunedStore& store,
                                     const std::vector<db::TunedEntry>& entries,
                                     const TargetCalled& target_called) {
  std::vector<ReportedProblem> problems;
  for (const db::TunedEntry& entry : entries) {
    problems.push_back(problem_of(store, entry, target_called(entry.kernel.target)));
  }
  problems = with_contexts(std::move(problems));
  compare_with_cpu(problems);
  sort_by_size(problems);
  return problems;
}

}  // namespace autotune::report
