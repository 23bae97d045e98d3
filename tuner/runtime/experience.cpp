// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/experience.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "db/problem_text.hpp"

namespace autotune {
namespace {

constexpr double kOtherDevice = 0.5;        // added to a distance
constexpr std::size_t kMostProblems = 256;  // the nearest
constexpr std::size_t kMostBaselines = 64;
constexpr std::size_t kFirst = 8;   // candidates to expand when none but the default is valid
constexpr std::size_t kOfEach = 6;  // good configurations taken from a problem
constexpr double kOneChange = 0.6;  // added to the distance of a neighbour's error
constexpr int kSteps = 3;

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

/// A tuned problem, with its distance from the requested sizes.
struct Experience::Past {
  const db::PastProblem* problem;
  double distance;
};

struct Experience::Candidate {
  Levels levels;
  const Past* from;          // the nearest problem where it was good
  const db::PastTime* time;  // its time there; nullptr if it is only a neighbour of such a one
  std::optional<KnownError> known;
  bool is_standard = false;            // the default configuration
  double predicted = 0, expected = 0;  // logarithms of seconds
};

Experience::Experience(const SizedTarget& sized, db::PastTimes times)
    : sized_(sized),
      times_(std::move(times)),
      models_(sized, times_),
      covers_(times_, models_.same_device(), sized.target.sizes.size()) {
  learn_errors();
}

/// The configurations of the covers that span these sizes, each once.
std::vector<Experience::Candidate> Experience::of_cover(std::span<const Past> near,
                                                        std::span<const std::int64_t> sizes) {
  std::vector<Candidate> all;
  std::set<Levels> seen;
  for (const Past& past : near) {
    const db::PastTime& time = past.problem->pinned;
    if (!is_here(*past.problem) || !covers_.spans(past.problem->cover, sizes)) continue;
    const std::optional<Levels>& levels = models_.levels_of_text(time.configuration);
    if (!levels || !seen.insert(*levels).second) continue;
    std::optional<KnownError> known;
    if (const auto off = models_.error(*past.problem, time)) known = {*off, past.distance};
    all.push_back({*levels, &past, &time, known});
  }
  return all;
}

bool Experience::is_here(const db::PastProblem& problem) const {
  return models_.same_device()[problem.device];
}

/// Done in advance, so that the first choice is as fast as later ones.
void Experience::learn_errors() {
  for (const db::PastProblem& problem : times_.problems) {
    for (const db::PastTime& time : foremost(problem)) {
      if (models_.levels_of_text(time.configuration)) models_.error(problem, time);
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
  choice.expected_seconds = models_.has_model() ? std::exp(best->expected) : 0;
  choice.distance = db::size_distance(sizes_of(from), sizes);
  choice.same_device = is_here(from);
  choice.default_ns = from.standard.ns;
  choice.known = {to_text(configuration_of(sized_.target.parameters, best->levels)), 0,
                  "predicted"};
  if (best->time) choice.known = *best->time;
  choice.is_covered = is_covered;
  if (!is_covered) weigh_baseline(choice, sizes, near);
  return choice;
}

double Experience::expected_seconds(const std::string& configuration,
                                    std::span<const std::int64_t> sizes) {
  const std::optional<Levels>& levels = models_.levels_of_text(configuration);
  if (!levels || !models_.has_model()) return 0;
  const std::vector<Past> near = nearest(sizes);
  const std::vector<Candidate> all = candidates(near);
  const auto found = std::ranges::find(all, *levels, &Candidate::levels);
  const Candidate one = found == all.end() ? Candidate{*levels, nullptr, nullptr, {}} : *found;
  const std::vector<Candidate> valid = rated({&one, 1}, sizes, typical_of(all));
  return valid.empty() ? 0 : std::exp(valid.front().expected);
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

/// Valid configurations among those that were good at near problems, and neighbours of the best.
std::vector<Experience::Candidate> Experience::valid_ones(std::span<const Past> near,
                                                          std::span<const std::int64_t> sizes) {
  const std::vector<Candidate> all = candidates(near);
  const double typical = typical_of(all);
  std::set<Levels> seen;
  for (const Candidate& each : all) seen.insert(each.levels);
  std::vector<Candidate> valid = rated(all, sizes, typical);
  // Where no good configuration is valid, neighbours of invalid ones may be.
  if (std::ranges::all_of(valid, &Candidate::is_standard)) {
    for (const Candidate& each : std::span(all).first(std::min(all.size(), kFirst))) {
      append(valid, rated(neighbours(each, seen), sizes, typical));
    }
  }
  if (models_.has_model()) descend(valid, seen, sizes, typical);
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
    near.push_back({&problem, distance + (is_here(problem) ? 0 : kOtherDevice)});
  }
  const std::size_t count = std::min(near.size(), kMostProblems);
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count), {},
                            &Past::distance);
  near.resize(count);
  return near;
}

/// Good configurations of the nearest problems, each once, with its error at the nearest of them.
std::vector<Experience::Candidate> Experience::candidates(std::span<const Past> near) {
  std::vector<Candidate> all;
  std::set<Levels> seen;
  const auto add = [&](const Past& past, const db::PastTime& time) {
    const std::optional<Levels>& levels = models_.levels_of_text(time.configuration);
    if (!levels || !seen.insert(*levels).second) return;
    std::optional<KnownError> known;
    if (const auto off = models_.error(*past.problem, time)) known = {*off, past.distance};
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

/// Configurations that differ from `one` in one parameter, without those already seen.
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

/// The valid configurations, with their expected times. Without a model, the order of `all` stands
/// for time.
std::vector<Experience::Candidate> Experience::rated(std::span<const Candidate> all,
                                                     std::span<const std::int64_t> sizes,
                                                     double typical) const {
  std::vector<Candidate> valid;
  for (const Candidate& each : all) {
    if (!is_valid(sized_.program, each.levels, sizes)) continue;
    const std::optional<double> time = models_.predicted(each.levels, sizes);
    if (models_.has_model() && !time) continue;
    Candidate& kept = valid.emplace_back(each);
    if (time) kept.predicted = *time;
    kept.expected =
        time ? expected_time(*time, each.known, typical) : static_cast<double>(valid.size());
  }
  return valid;
}

/// Sets the baseline if it is expected to be faster. Its times are from other sizes, and with a
/// model also from other GPUs of the architecture. Without a model, our time is assumed to be that
/// of the nearest problem.
void Experience::weigh_baseline(Choice& choice, std::span<const std::int64_t> sizes,
                                std::span<const Past> near) const {
  const bool has_model = models_.has_model();
  std::vector<BaselineTime> times;
  for (const auto& [problem, distance] : near) {
    const bool counts = problem->baseline_ns > 0 && (has_model || is_here(*problem));
    if (!counts || times.size() == kMostBaselines) continue;
    const double winner = std::log(problem->good.front().ns * 1e-9);
    const double reference = has_model ? models_.ideal(*problem) : winner;
    if (!std::isfinite(reference)) continue;
    if (times.empty()) choice.baseline = problem->baseline;
    times.push_back({reference, std::log(problem->baseline_ns * 1e-9), distance});
  }
  if (times.empty()) return;
  const double reference = has_model ? models_.ideal(sizes) : times.front().reference;
  const double library = *expected_baseline_time(times, reference);
  const double ours = has_model ? std::log(choice.expected_seconds) : reference;
  if (prefers_baseline(ours, library, times.front().distance)) {
    choice.baseline_seconds = std::exp(library);
  } else {
    choice.baseline.clear();
  }
}

}  // namespace autotune
