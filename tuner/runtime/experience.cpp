// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/experience.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "db/lookup_source.hpp"
#include "db/problem_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

constexpr double kOtherDevice = 0.5;        // added to a distance
constexpr std::size_t kMostProblems = 256;  // the nearest
constexpr std::size_t kMostBaselines = 64;
constexpr std::size_t kChangedCandidates = 8;  // the first, when none is valid

std::optional<SizedCostModel> model_of(const SizedTarget& sized, const DeviceInfo& device) try {
  return SizedCostModel(sized.target, sized.ones, device);
} catch (const Error&) {
  return std::nullopt;
}

std::optional<Levels> levels_in(const Target& target, const std::string& configuration) try {
  return levels_of(target.parameters, parse_named_values(configuration));
} catch (const Error&) {
  return std::nullopt;
}

/// The model's logarithm of seconds.
std::optional<double> predicted(const std::optional<SizedCostModel>& model, const Levels& levels,
                                std::span<const std::int64_t> sizes) try {
  if (!model) return std::nullopt;
  const double seconds = model->estimate(levels, sizes).seconds;
  return seconds > 0 && std::isfinite(seconds) ? std::optional(std::log(seconds)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

/// What cannot be evaluated is not valid.
bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) try {
  return program.is_valid(levels, sizes);
} catch (const Error&) {
  return false;
}

}  // namespace

/// A tuned problem, seen from the sizes asked about.
struct Experience::Past {
  const db::PastProblem* problem;
  double distance;
};

struct Experience::Candidate {
  Levels levels;
  const Past* from;          // the nearest problem that led to it
  const db::PastTime* time;  // there; nullptr for a neighbour of another
  std::optional<KnownError> known;
  bool is_standard = false;            // the default configuration
  double predicted = 0, expected = 0;  // logarithms of seconds
};

Experience::Experience(const SizedTarget& sized, db::PastTimes times)
    : sized_(sized), times_(std::move(times)), here_(model_of(sized, sized.device)) {
  const db::DeviceRow here = device_row(sized.device);
  for (const db::DeviceRow& row : times_.devices) {
    const bool same = db::is_same_device(row, here);
    same_device_.push_back(same);
    models_.push_back(model_of(sized, same ? sized.device : device_of(row)));
  }
}

std::optional<Experience::Choice> Experience::choose(std::span<const std::int64_t> sizes) {
  const std::vector<Past> near = nearest(sizes);
  std::vector<Candidate> all = candidates(near);
  std::vector<Candidate> valid = rated(all, sizes);
  const auto is_standard = [](const Candidate& each) { return each.is_standard; };
  if (std::ranges::all_of(valid, is_standard)) {
    valid = rated(with_neighbours(all), sizes);
  }
  const auto best = std::ranges::min_element(valid, {}, &Candidate::expected);
  if (best == valid.end()) return std::nullopt;
  const db::PastProblem& from = *best->from->problem;
  Choice choice;
  choice.is_standard = best->is_standard;
  choice.expected_seconds = here_ ? std::exp(best->expected) : 0;
  choice.distance = db::size_distance(sizes_of(from), sizes);
  choice.same_device = same_device_[from.device];
  choice.default_ns = from.standard.ns;
  choice.known = {to_text(configuration_of(sized_.target.parameters, best->levels)), 0,
                  "predicted"};
  if (best->time) choice.known = *best->time;
  weigh_baseline(choice, best->predicted, near);
  return choice;
}

std::span<const std::int64_t> Experience::sizes_of(const db::PastProblem& problem) const {
  return std::span(problem.sizes).first(sized_.target.sizes.size());
}

/// The nearest first.
std::vector<Experience::Past> Experience::nearest(std::span<const std::int64_t> sizes) const {
  std::vector<Past> near;
  for (const db::PastProblem& problem : times_.problems) {
    const double distance = db::size_distance(sizes_of(problem), sizes);
    near.push_back({&problem, distance + (same_device_[problem.device] ? 0 : kOtherDevice)});
  }
  const std::size_t count = std::min(near.size(), kMostProblems);
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count), {},
                            &Past::distance);
  near.resize(count);
  return near;
}

/// Good configurations of the nearest problems, each once, with what is known where it is nearest.
std::vector<Experience::Candidate> Experience::candidates(std::span<const Past> near) {
  std::vector<Candidate> all;
  std::set<Levels> seen;
  const auto add = [&](const Past& past, const db::PastTime& time) {
    const std::optional<Levels>& levels = levels_of_text(time.configuration);
    if (!levels || all.size() >= kMostCandidates || !seen.insert(*levels).second) return;
    std::optional<KnownError> known;
    if (const auto off = error(*past.problem, time)) known = {*off, past.distance};
    all.push_back({*levels, &past, &time, known, &time == &past.problem->standard});
  };
  for (const Past& past : near) {
    for (const db::PastTime& time : past.problem->good) add(past, time);
  }
  for (const Past& past : near) {
    if (past.problem->standard.ns > 0) add(past, past.problem->standard);
  }
  return all;
}

/// And of the first of them, every other value of every parameter.
std::vector<Experience::Candidate> Experience::with_neighbours(std::vector<Candidate> all) const {
  std::set<Levels> seen;
  for (const Candidate& each : all) seen.insert(each.levels);
  const std::size_t count = std::min(all.size(), kChangedCandidates);
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < all[k].levels.size(); ++i) {
      Candidate changed{all[k].levels, all[k].from, nullptr, {}};
      for (std::size_t level = 0; level < sized_.target.parameters[i].values.size(); ++level) {
        changed.levels[i] = static_cast<std::uint16_t>(level);
        if (seen.insert(changed.levels).second) all.push_back(changed);
      }
    }
  }
  return all;
}

/// The valid ones, with their expected times. Without a model, earlier ones are expected to be
/// faster.
std::vector<Experience::Candidate> Experience::rated(std::span<const Candidate> all,
                                                     std::span<const std::int64_t> sizes) const {
  std::vector<KnownError> errors;
  for (const Candidate& each : all) {
    if (each.known) errors.push_back(*each.known);
  }
  const double typical = typical_error(errors);
  std::vector<Candidate> valid;
  for (const Candidate& each : all) {
    if (!is_valid(sized_.program, each.levels, sizes)) continue;
    const std::optional<double> time = predicted(here_, each.levels, sizes);
    if (here_ && !time) continue;
    Candidate& kept = valid.emplace_back(each);
    if (time) kept.predicted = *time;
    kept.expected =
        time ? expected_time(*time, each.known, typical) : static_cast<double>(valid.size());
  }
  return valid;
}

/// The library was measured at other sizes only. Without a model, ours takes as long here as at the
/// nearest problem.
void Experience::weigh_baseline(Choice& choice, double predicted_here, std::span<const Past> near) {
  std::vector<BaselineTime> times;
  for (const auto& [problem, distance] : near) {
    const bool has = same_device_[problem->device] && problem->baseline_ns > 0;
    if (!has || times.size() == kMostBaselines) continue;
    const std::optional<double> ours = winner_time(*problem);
    if (!ours) continue;
    if (times.empty()) choice.baseline = problem->baseline;
    times.push_back({*ours, std::log(problem->baseline_ns * 1e-9), distance});
  }
  if (times.empty()) return;
  if (!here_) predicted_here = times.front().winner_predicted;
  const double library = *expected_baseline_time(times, predicted_here);
  const double ours = here_ ? std::log(choice.expected_seconds) : predicted_here;
  if (prefers_baseline(ours, library, times.front().distance)) {
    choice.baseline_seconds = std::exp(library);
  } else {
    choice.baseline.clear();
  }
}

/// The model's; the measured one without a model.
std::optional<double> Experience::winner_time(const db::PastProblem& problem) {
  const db::PastTime& winner = problem.good.front();
  if (!here_) return winner.ns > 0 ? std::optional(std::log(winner.ns * 1e-9)) : std::nullopt;
  const std::optional<Levels>& levels = levels_of_text(winner.configuration);
  return levels ? predicted(here_, *levels, sizes_of(problem)) : std::nullopt;
}

const std::optional<Levels>& Experience::levels_of_text(const std::string& configuration) {
  const auto [found, is_new] = levels_.try_emplace(configuration);
  if (is_new) found->second = levels_in(sized_.target, configuration);
  return found->second;
}

/// Of the device's model, where the time was taken.
std::optional<double> Experience::error(const db::PastProblem& problem, const db::PastTime& time) {
  if (time.ns <= 0 || time.provenance == "predicted") return std::nullopt;
  const auto [found, is_new] = errors_.try_emplace(&time);
  if (!is_new) return found->second;
  const std::optional<Levels>& levels = levels_of_text(time.configuration);
  const auto model = predicted(models_[problem.device], *levels, sizes_of(problem));
  if (model) found->second = std::log(time.ns * 1e-9) - *model;
  return found->second;
}

}  // namespace autotune
