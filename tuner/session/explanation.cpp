// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/explanation.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

const std::string kGroupsOf = "groups_of_";
constexpr double kMostGroups = 1000;

/// The id under which the device is stored, or empty.
std::string id_of(const db::TunedStore& store, const DeviceInfo& info) {
  const db::DeviceRow wanted = device_row(info);
  for (db::DeviceRow each : store.devices()) {
    std::string id = std::move(each.id);
    each.id = wanted.id;
    if (each == wanted) return id;
  }
  return "";
}

bool is_stored(const db::TunedStore& store, const DeviceInfo& info) {
  const std::string id = id_of(store, info);
  return !id.empty() && !store.calibration(id).empty();
}

void keep(db::TunedStore& store, const DeviceInfo& info, const Calibration& calibration) {
  const std::string id = store.add_device(device_row(info));
  const auto add = [&](std::string name, double value) {
    db::CalibrationRow row;
    row.device = id;
    row.name = std::move(name);
    row.value = value;
    row.created_at = db::now_text();
    store.calibrate(row);
  };
  for (const CalibrationField& field : kCalibrationFields) {
    add(std::string(field.name), calibration.*field.value);
  }
  std::map<int, int> groups;
  for (const int size : calibration.cluster_groups) ++groups[size];
  for (const auto& [size, count] : groups) add(kGroupsOf + std::to_string(size), count);
}

/// `groups_of_16`, 5: five groups of 16 multiprocessors.
void take_groups(Calibration& calibration, const db::CalibrationRow& row) {
  if (!row.name.starts_with(kGroupsOf)) return;
  const int size = std::atoi(row.name.c_str() + kGroupsOf.size());
  const auto count = static_cast<std::size_t>(std::clamp(row.value, 0.0, kMostGroups));
  if (size > 0) calibration.cluster_groups.insert(calibration.cluster_groups.end(), count, size);
}

}  // namespace

Calibration stored_calibration(const db::TunedStore& store, const DeviceInfo& info) {
  Calibration calibration;
  const std::string id = id_of(store, info);
  if (id.empty()) return calibration;
  for (const db::CalibrationRow& row : store.calibration(id)) {
    for (const CalibrationField& field : kCalibrationFields) {
      if (field.name == row.name) calibration.*field.value = row.value;
    }
    take_groups(calibration, row);
  }
  std::ranges::sort(calibration.cluster_groups);
  return calibration;
}

bool needs_calibration(const db::TunedStore* store, const Device& device) {
  return device.info().kind == DeviceKind::cuda && !(store && is_stored(*store, device.info()));
}

Calibration calibration_of(db::TunedStore* store, Device& device) {
  if (device.info().kind != DeviceKind::cuda) return {};
  if (!needs_calibration(store, device)) return stored_calibration(*store, device.info());
  try {
    const Calibration measured = calibrate(device);
    if (store) keep(*store, device.info(), measured);
    return measured;
  } catch (const Error&) {
    return {};
  }
}

namespace {

bool has_failed(const SearchStep& step) {
  return step.outcome != Outcome::ok && step.outcome != Outcome::pruned;
}

/// A pruned configuration counts with its lower bound, else only fast ones were compared.
void rank(SearchHealth& health, std::span<const SearchStep> steps) {
  std::vector<double> predicted, measured;
  for (const SearchStep& step : steps) {
    if (has_failed(step) || !step.seconds || !step.predicted) continue;
    predicted.push_back(*step.predicted);
    measured.push_back(*step.seconds);
    health.timed += step.outcome == Outcome::ok;
  }
  health.ranked = static_cast<int>(measured.size());
  if (health.ranked >= SearchHealth::kFewestRanked) {
    health.rank_correlation = spearman(predicted, measured);
  }
}

void count_failures(SearchHealth& health, std::span<const SearchStep> steps) {
  std::vector<Ending> endings;
  for (const SearchStep& step : steps) {
    if (has_failed(step)) endings.push_back({name_of(step.outcome), step.message});
  }
  health.failed = static_cast<int>(endings.size());
  std::vector<Reason> reasons = reasons_of(endings);
  if (!reasons.empty()) health.main_failure = std::move(reasons.front());
}

double best_of(std::span<const SearchStep> steps) {
  double best = std::numeric_limits<double>::infinity();
  for (const SearchStep& step : steps) {
    if (step.outcome == Outcome::ok && step.seconds) best = std::min(best, *step.seconds);
  }
  return best;
}

std::optional<double> last_gain(std::span<const SearchStep> steps, std::size_t unordered) {
  const std::size_t before = std::max(steps.size() - steps.size() / 4, unordered);
  if (std::ssize(steps) < SearchHealth::kFewestTried || before >= steps.size()) return std::nullopt;
  const double earlier = best_of(steps.first(before));
  if (earlier == std::numeric_limits<double>::infinity()) return std::nullopt;
  return 1 - best_of(steps) / earlier;
}

}  // namespace

bool SearchHealth::is_misled() const {
  return rank_correlation && *rank_correlation < kMisleading && timed >= kFewestTimed &&
         static_cast<std::size_t>(tried) < space;
}

bool SearchHealth::fails_often() const { return tried >= kFewestTried && failed_share() >= kOften; }

bool SearchHealth::still_improves() const {
  return last_gain && *last_gain >= kGain && static_cast<std::size_t>(tried) < space;
}

SearchHealth search_health(std::span<const SearchStep> steps, std::size_t space,
                           std::size_t unordered) {
  SearchHealth health;
  health.space = space;
  health.tried = static_cast<int>(steps.size());
  rank(health, steps);
  count_failures(health, steps);
  health.last_gain = last_gain(steps, unordered);
  return health;
}

namespace {

/// Rows of the search and of its playoff.
std::vector<db::TrialRow> rows_of(std::vector<db::TrialRow> rows) {
  std::erase_if(rows, [](const db::TrialRow& row) { return row.stage == "audit"; });
  return rows;
}

class Explainer {
 public:
  Explainer(const db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
            const NamedValues& free)
      : entry_(entry),
        device_(device_of(entry.device)),
        problem_{parse_named_values(entry.best.key.problem), free},
        space_(space_of(target, problem_, device_)),
        calibration_(stored_calibration(store, device_)),
        model_(target, problem_, space_, device_, calibration_),
        flops_(work_of(target, problem_, device_).flops),
        rows_(free.empty() ? rows_of(store.standing(entry.best.key))
                           : std::vector<db::TrialRow>()) {}

  Explanation explain(const Target& target, std::size_t losers) const {
    Explanation result;
    result.same_source = entry_.kernel.fingerprint == target.fingerprint;
    result.gpu = model_.gpu();
    result.calibration = calibration_;
    result.flops = flops_;
    result.best = parse_named_values(entry_.best.configuration);
    result.commands = commands_of(target, problem_, result.best, device_);
    const bool measured = entry_.best.provenance != "predicted";
    if (measured && entry_.best.median_ns) result.seconds = *entry_.best.median_ns * kNanosecond;
    if (measured && entry_.best.default_ns) {
      result.default_seconds = *entry_.best.default_ns * kNanosecond;
    }
    if (measured) result.noise_floor = entry_.best.noise_floor.value_or(0);
    const auto index = space_.find(result.best);
    if (!index) {
      throw Error(format("{} is no longer a valid configuration of {}: run autotune tune again",
                         entry_.best.configuration, target.name));
    }
    result.input = described(*index, row_of(entry_.best.configuration));
    result.estimate = model_.estimate(result.input);
    if (device_.kind != DeviceKind::host) {
      result.accesses = traffic_of(result.gpu.sm, target, problem_, device_, result.best);
    }
    result.tried = tried();
    result.reasons = reasons_of(rows_);
    result.timed = timed();
    result.tensor_roof = result.estimate.tensor_roof;
    for (const ExplainedTrial& trial : result.timed) {
      result.tensor_roof = std::max(result.tensor_roof, trial.tensor_roof);
    }
    result.losers = losers_of(target, result, losers);
    result.health = search_health(steps(), space_.size());
    return result;
  }

 private:
  const db::TrialRow* row_of(const std::string& configuration) const {
    const auto found = std::find_if(rows_.rbegin(), rows_.rend(), [&](const db::TrialRow& row) {
      return row.configuration == configuration && row.registers.has_value();
    });
    return found == rows_.rend() ? nullptr : &*found;
  }

  /// With the compiler's registers and shared memory where the trial has them.
  CostInput described(std::size_t index, const db::TrialRow* row) const {
    CostInput input = model_.input(index);
    if (row && row->registers) input.shape.registers = static_cast<int>(*row->registers);
    if (row && row->shared_bytes && *row->shared_bytes >= input.shape.dynamic_shared_bytes) {
      input.shape.static_shared_bytes = *row->shared_bytes - input.shape.dynamic_shared_bytes;
    }
    return input;
  }

  /// Configurations; those of the playoff have a row for each of their stages.
  int tried() const {
    std::set<std::string_view> configurations;
    for (const db::TrialRow& row : rows_) configurations.insert(row.configuration);
    return static_cast<int>(configurations.size());
  }

  /// Each configuration once, with its latest time.
  std::vector<ExplainedTrial> timed() const {
    std::map<std::string, double> seconds;
    for (const db::TrialRow& row : rows_) {
      if (row.outcome == "ok" && row.median_ns) {
        seconds[row.configuration] = *row.median_ns * kNanosecond;
      } else if (row.outcome != "ok" && row.outcome != "pruned") {
        seconds.erase(row.configuration);  // refuted
      }
    }
    std::vector<ExplainedTrial> trials;
    for (const auto& [text, time] : seconds) {
      const Configuration configuration = parse_named_values(text);
      const auto index = space_.find(configuration);
      if (!index) continue;
      const CostInput input = model_.input(*index);
      const double bytes = input.work.l2_bytes;
      trials.push_back({configuration, time, flops_ / time, bytes > 0 ? flops_ / bytes : 0,
                        model_.estimate(input).tensor_roof});
    }
    std::stable_sort(trials.begin(), trials.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    return trials;
  }

  /// Each configuration of the search once, at its first trial, with how it ended at last.
  std::vector<SearchStep> steps() const {
    std::vector<SearchStep> steps;
    std::map<std::string_view, std::size_t> places;
    for (const db::TrialRow& row : rows_) {
      const auto index = space_.find(parse_named_values(row.configuration));
      if (!index) continue;
      const auto [place, is_new] = places.emplace(row.configuration, steps.size());
      if (is_new) steps.push_back({{}, {}, model_.estimate(model_.input(*index)).seconds, {}});
      SearchStep& step = steps[place->second];
      step.outcome = outcome(row.outcome).value_or(Outcome::crash);
      step.message = row.message;
      const bool is_timed = step.outcome == Outcome::ok || step.outcome == Outcome::pruned;
      if (is_timed && row.median_ns) step.seconds = *row.median_ns * kNanosecond;
    }
    return steps;
  }

  /// Parameters of either configuration with another value, or none, in the other.
  std::vector<Difference> differences(const Target& target, const Configuration& best,
                                      const Configuration& other) const {
    const NamedValues ours = active_values(target, problem_, best, device_);
    const NamedValues theirs = active_values(target, problem_, other, device_);
    std::vector<Difference> all;
    for (const Parameter& parameter : target.parameters) {
      const auto text = [&](const NamedValues& values) {
        const Value* value = find_value(values, parameter.name);
        return value ? value->text() : std::string();
      };
      if (text(ours) != text(theirs)) {
        all.push_back({parameter.name, text(ours), text(theirs)});
      }
    }
    return all;
  }

  std::vector<Loser> losers_of(const Target& target, const Explanation& explanation,
                               std::size_t most) const {
    std::vector<Loser> losers;
    const double best = explanation.seconds.value_or(
        explanation.timed.empty() ? 0 : explanation.timed.front().seconds);
    for (const ExplainedTrial& trial : explanation.timed) {
      if (losers.size() == most) break;
      if (trial.configuration == explanation.best) continue;
      const auto index = *space_.find(trial.configuration);
      const CostInput input = described(index, row_of(to_text(trial.configuration)));
      losers.push_back({trial, best > 0 ? trial.seconds / best - 1 : 0, model_.estimate(input),
                        differences(target, explanation.best, trial.configuration)});
    }
    return losers;
  }

  const db::TunedEntry& entry_;
  DeviceInfo device_;
  Problem problem_;
  ParameterSpace space_;
  Calibration calibration_;
  CostModel model_;
  double flops_;
  std::vector<db::TrialRow> rows_;  // of the search and its playoff
};

}  // namespace

Explanation explain(const db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                    std::size_t losers, const NamedValues& free) {
  return Explainer(store, entry, target, free).explain(target, losers);
}

namespace {

std::string figures_text(const Counters& counters) {
  std::string text;
  for (const Counter& one : counters) {
    text += format("{}{}={:.10g}", text.empty() ? "" : " ", one.name, one.value);
  }
  return text;
}

Counters counted(const TargetProgram& program, const Configuration& configuration, Device& device,
                 Workbench& bench, const std::filesystem::path& plugin) {
  const Levels levels = program.levels(configuration);
  const CompiledKernel kernel = device.compile(program.source_unit(levels));
  if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, first_error(kernel.log));
  return counters_of(*bench.load(kernel, program.plan(levels)), plugin);
}

}  // namespace

void count_finalists(db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                     Device& device, const std::filesystem::path& plugin,
                     const std::function<void(const std::string&)>& warn) {
  const Problem problem{parse_named_values(entry.best.key.problem)};
  const TargetProgram program(target, problem, device.info());
  const auto bench = device.open(prepared_workload_of(target, problem, device.info()));
  for (const std::string& text : finalists_of(entry.best)) {
    try {
      const Counters counters = counted(program, parse_named_values(text), device, *bench, plugin);
      db::add_counters(store, {"", entry.best.key, text, figures_text(counters),
                               device.info().environment, db::now_text()});
    } catch (const KernelFailure& failure) {
      warn(format("{} is not counted: {}", text, failure.what()));
    }
  }
}

}  // namespace autotune
