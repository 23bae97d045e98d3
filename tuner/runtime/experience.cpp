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
constexpr std::size_t kFirst = 8;   // of the candidates, when hardly any is valid
constexpr std::size_t kOfEach = 6;  // good configurations of a problem
constexpr double kOneChange = 0.6;  // added to the distance of a neighbour's error
constexpr int kSteps = 3;
constexpr double kStartSeconds = 3e-6;  // of any call, in what it ideally takes

std::optional<SizedCostModel> model_of(const SizedTarget& sized, const DeviceInfo& device) try {
  return SizedCostModel(sized.target, sized.ones, device);
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

std::size_t differences(const Levels& a, const Levels& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

std::span<const db::PastTime> foremost(const db::PastProblem& problem) {
  return std::span(problem.good).first(std::min(problem.good.size(), kOfEach));
}

void append(auto& all, auto more) { std::ranges::move(more, std::back_inserter(all)); }

}  // namespace

std::optional<Levels> levels_in(const Target& target, std::string_view configuration) try {
  return levels_of(target.parameters, parse_named_values(configuration));
} catch (const Error&) {
  return std::nullopt;
}

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
  const auto standard = levels_of(sized.target.parameters, sized.target.default_configuration);
  if (!standard) here_.reset();
  if (standard) default_levels_ = *standard;
  const db::DeviceRow here = device_row(sized.device);
  for (const db::DeviceRow& row : times_.devices) {
    const bool same = db::is_same_device(row, here);
    same_device_.push_back(same);
    models_.push_back(model_of(sized, same ? sized.device : device_of(row)));
  }
  learn_errors();
  learn_covers();
}

void Experience::learn_covers() {
  for (const db::PastProblem& problem : times_.problems) {
    if (problem.cover.empty() || !same_device_[problem.device]) continue;
    const auto sizes = sizes_of(problem);
    const std::vector<std::int64_t> own(sizes.begin(), sizes.end());
    Cover& cover = covers_.try_emplace(problem.cover, Cover{own, own}).first->second;
    for (std::size_t i = 0; i < own.size(); ++i) {
      cover.low[i] = std::min(cover.low[i], own[i]);
      cover.high[i] = std::max(cover.high[i], own[i]);
    }
  }
}

bool Experience::spans(const std::string& cover, std::span<const std::int64_t> sizes) const {
  const auto found = covers_.find(cover);
  if (found == covers_.end()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < found->second.low[i] || sizes[i] > found->second.high[i]) return false;
  }
  return true;
}

/// The configurations of the covers that span these sizes, each once.
std::vector<Experience::Candidate> Experience::of_cover(std::span<const Past> near,
                                                        std::span<const std::int64_t> sizes) {
  std::vector<Candidate> all;
  std::set<Levels> seen;
  for (const Past& past : near) {
    const db::PastTime& time = past.problem->pinned;
    if (!same_device_[past.problem->device] || !spans(past.problem->cover, sizes)) continue;
    const std::optional<Levels>& levels = levels_of_text(time.configuration);
    if (!levels || !seen.insert(*levels).second) continue;
    std::optional<KnownError> known;
    if (const auto off = error(*past.problem, time)) known = {*off, past.distance};
    all.push_back({*levels, &past, &time, known});
  }
  return all;
}

/// So that the first choice takes no longer than others.
void Experience::learn_errors() {
  for (const db::PastProblem& problem : times_.problems) {
    for (const db::PastTime& time : foremost(problem)) {
      if (levels_of_text(time.configuration)) error(problem, time);
    }
  }
}

std::optional<Experience::Choice> Experience::choose(std::span<const std::int64_t> sizes) {
  const std::vector<Past> near = nearest(sizes);
  const std::vector<Candidate> cover = of_cover(near, sizes);
  std::vector<Candidate> valid = rated(cover, sizes, typical_of(cover));
  const bool is_covered = !valid.empty();
  if (!is_covered) valid = valid_ones(near, sizes);
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
  choice.is_covered = is_covered;
  if (!is_covered) weigh_baseline(choice, sizes, near);
  return choice;
}

std::vector<std::string> Experience::likely(std::span<const std::int64_t> sizes,
                                            std::size_t count) {
  const std::vector<Past> near = nearest(sizes);
  std::vector<Candidate> valid = valid_ones(near, sizes);
  std::ranges::stable_sort(valid, {}, &Candidate::expected);
  std::vector<Levels> chosen;
  const auto choose_up_to = [&](std::size_t most, auto&& is_wanted) {
    for (const Candidate& each : valid) {
      const bool is_new = std::ranges::find(chosen, each.levels) == chosen.end();
      if (chosen.size() < most && is_new && is_wanted(each.levels)) chosen.push_back(each.levels);
    }
  };
  const auto any = [](const Levels&) { return true; };
  choose_up_to((count + 1) / 2, any);
  choose_up_to(count, [&](const Levels& levels) {
    return std::ranges::none_of(
        chosen, [&](const Levels& other) { return differences(levels, other) <= 1; });
  });
  choose_up_to(count, any);
  std::vector<std::string> texts;
  for (const Levels& levels : chosen) {
    texts.push_back(to_text(configuration_of(sized_.target.parameters, levels)));
  }
  return texts;
}

/// Those that were good at near problems, and neighbours of the best.
std::vector<Experience::Candidate> Experience::valid_ones(std::span<const Past> near,
                                                          std::span<const std::int64_t> sizes) {
  const std::vector<Candidate> all = candidates(near);
  const double typical = typical_of(all);
  std::set<Levels> seen;
  for (const Candidate& each : all) seen.insert(each.levels);
  std::vector<Candidate> valid = rated(all, sizes, typical);
  if (std::ranges::all_of(valid, &Candidate::is_standard)) {  // from those that are not valid, too
    for (const Candidate& each : std::span(all).first(std::min(all.size(), kFirst))) {
      append(valid, rated(neighbours(each, seen), sizes, typical));
    }
  }
  if (here_) descend(valid, seen, sizes, typical);
  return valid;
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
    if (!levels || !seen.insert(*levels).second) return;
    std::optional<KnownError> known;
    if (const auto off = error(*past.problem, time)) known = {*off, past.distance};
    all.push_back({*levels, &past, &time, known, &time == &past.problem->standard});
  };
  for (const Past& past : near) {
    for (const db::PastTime& time : foremost(*past.problem)) {
      if (all.size() < kMostCandidates) add(past, time);
    }
  }
  for (const Past& past : near) {
    if (past.problem->standard.ns > 0) add(past, past.problem->standard);
  }
  return all;
}

double Experience::typical_of(std::span<const Candidate> all) {
  std::vector<KnownError> errors;
  for (const Candidate& each : all) {
    if (each.known) errors.push_back(*each.known);
  }
  return typical_error(errors);
}

/// A few steps of a search by the model: adds the neighbours of the best.
void Experience::descend(std::vector<Candidate>& valid, std::set<Levels>& seen,
                         std::span<const std::int64_t> sizes, double typical) const {
  std::set<Levels> expanded;
  for (int step = 0; step < kSteps && !valid.empty(); ++step) {
    const Candidate best = *std::ranges::min_element(valid, {}, &Candidate::expected);
    if (!expanded.insert(best.levels).second) return;
    append(valid, rated(neighbours(best, seen), sizes, typical));
  }
}

/// Every other value of every parameter, if it was not seen.
std::vector<Experience::Candidate> Experience::neighbours(const Candidate& one,
                                                          std::set<Levels>& seen) const {
  std::vector<Candidate> found;
  std::optional<KnownError> known = one.known;
  if (known) known->distance += kOneChange;
  for (std::size_t i = 0; i < one.levels.size(); ++i) {
    Candidate changed{one.levels, one.from, nullptr, known};
    for (std::size_t level = 0; level < sized_.target.parameters[i].values.size(); ++level) {
      changed.levels[i] = static_cast<std::uint16_t>(level);
      if (seen.insert(changed.levels).second) found.push_back(changed);
    }
  }
  return found;
}

/// The valid ones, with their expected times. Without a model, earlier ones are expected to be
/// faster.
std::vector<Experience::Candidate> Experience::rated(std::span<const Candidate> all,
                                                     std::span<const std::int64_t> sizes,
                                                     double typical) const {
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

/// The library was measured at other sizes only, here or, if the model can tell GPUs apart, on
/// others of the architecture. Without a model, ours takes as long here as at the nearest problem.
void Experience::weigh_baseline(Choice& choice, std::span<const std::int64_t> sizes,
                                std::span<const Past> near) const {
  std::vector<BaselineTime> times;
  for (const auto& [problem, distance] : near) {
    const bool counts = problem->baseline_ns > 0 && (here_ || same_device_[problem->device]);
    if (!counts || times.size() == kMostBaselines) continue;
    const double winner = std::log(problem->good.front().ns * 1e-9);
    const double reference = here_ ? ideal(models_[problem->device], sizes_of(*problem)) : winner;
    if (!std::isfinite(reference)) continue;
    if (times.empty()) choice.baseline = problem->baseline;
    times.push_back({reference, std::log(problem->baseline_ns * 1e-9), distance});
  }
  if (times.empty()) return;
  const double reference = here_ ? ideal(here_, sizes) : times.front().reference;
  const double library = *expected_baseline_time(times, reference);
  const double ours = here_ ? std::log(choice.expected_seconds) : reference;
  if (prefers_baseline(ours, library, times.front().distance)) {
    choice.baseline_seconds = std::exp(library);
  } else {
    choice.baseline.clear();
  }
}

/// The logarithm of what a call ideally takes on the model's device, its start included; infinity
/// if that is not known.
double Experience::ideal(const std::optional<SizedCostModel>& model,
                         std::span<const std::int64_t> sizes) const try {
  if (!model) return std::numeric_limits<double>::infinity();
  return std::log(kStartSeconds + model->ideal_seconds(default_levels_, sizes));
} catch (const Error&) {
  return std::numeric_limits<double>::infinity();
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
