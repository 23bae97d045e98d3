// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "tuner/core/outcome.hpp"

namespace autotune {
namespace {

constexpr std::size_t kRandom = 6000;
constexpr std::size_t kPredicted = 3000;
constexpr std::size_t kFastest = 5;  // whose neighbours are candidates
constexpr std::size_t kMostNeighbours = 6000;
constexpr std::size_t kLateShare = 6;  // a late search has one of so many candidates
constexpr float kNearlyEqual = 0.25F;  // log seconds between the tenths at both ends
constexpr float kOddSize = 0.2F;       // what a size that is no power of two is expected to cost
constexpr double kHopeless = 1000;     // times the predicted time of the fastest tenth

void append(std::vector<std::size_t>& all, const std::vector<std::size_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// The neighbours of the fastest few, and a random part of those two changes from the fastest.
std::vector<std::size_t> near_the_fastest(const ParameterSpace& space,
                                          const Observations& observations, std::size_t most,
                                          RandomSource& random) {
  const Neighbours neighbours(space);
  std::vector<std::size_t> places = observations.fastest();
  places.resize(std::min(places.size(), kFastest));
  std::vector<std::size_t> found;
  for (const std::size_t place : places) {
    append(found, neighbours.of(observations.indices()[place]));
  }
  if (places.empty()) return found;
  std::vector<std::size_t> nearest = neighbours.of(observations.indices()[places.front()]);
  random.shuffle(nearest);
  for (const std::size_t near : nearest) {
    if (found.size() > most) break;
    append(found, neighbours.of(near));
  }
  return found;
}

std::vector<std::size_t> chosen_indices(const ParameterSpace& space,
                                        const std::vector<std::size_t>& favourites,
                                        const Observations& observations, RandomSource& random) {
  const bool is_late = observations.size() >= kLate;
  std::vector<std::size_t> indices;
  if (!is_late && space.size() <= kMostCandidates) {
    indices.resize(space.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    return indices;
  }
  const std::size_t share = is_late ? kLateShare : 1;
  for (std::size_t i = 0; i < kRandom && indices.size() < kRandom / share; ++i) {
    const std::size_t index = random.below(space.size());
    if (!is_late || !observations.contains(index)) indices.push_back(index);
  }
  indices.insert(indices.end(), favourites.begin(),
                 favourites.begin() + std::ssize(favourites) / static_cast<std::ptrdiff_t>(share));
  append(indices, near_the_fastest(space, observations, kMostNeighbours / share, random));
  if (is_late) std::erase_if(indices, [&](std::size_t i) { return observations.contains(i); });
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

/// The cost model's times as a feature: log seconds minus their mean, clipped at the median. Zero
/// and infinity count as slow. Empty if no time is usable.
std::vector<float> log_predictions(std::span<const double> predicted) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> logs;
  std::vector<float> usable;
  for (const double seconds : predicted) {
    const bool good = is_time(seconds);
    logs.push_back(good ? static_cast<float>(std::log(seconds)) : kInfinity);
    if (good) usable.push_back(logs.back());
  }
  if (usable.empty()) return {};
  std::ranges::sort(usable);
  if (usable[usable.size() * 9 / 10] - usable[usable.size() / 10] < kNearlyEqual) return {};
  const auto middle = usable.begin() + static_cast<std::ptrdiff_t>(usable.size() / 2);
  double sum = 0;
  for (float& log : logs) sum += static_cast<double>(log = std::min(log, *middle));
  const auto mean = static_cast<float>(sum / static_cast<double>(logs.size()));
  for (float& log : logs) log -= mean;
  return logs;
}

}  // namespace

std::vector<bool> hopeless(std::span<const double> predicted) {
  std::vector<double> usable;
  std::ranges::copy_if(predicted, std::back_inserter(usable), is_time);
  if (usable.empty()) return {};
  const auto tenth = usable.begin() + static_cast<std::ptrdiff_t>(usable.size() / 10);
  std::ranges::nth_element(usable, tenth);
  std::vector<bool> found;
  for (const double seconds : predicted) {
    found.push_back(!(seconds > 0 && seconds <= kHopeless * *tenth));
  }
  const auto count = std::count(found.begin(), found.end(), true);
  if (count == 0 || count == std::ssize(found)) return {};
  return found;
}

std::vector<std::size_t> predicted_best(std::span<const float> log_predicted, std::size_t count) {
  std::vector<std::size_t> order(log_predicted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), last, order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(log_predicted[a], a) < std::pair(log_predicted[b], b);
  });
  order.erase(last, order.end());
  return order;
}

OddSizes::OddSizes(const ParameterSpace& space) : space_(space) {
  const auto is_size = [](const Value& value) { return !value.is_word() && value.number() > 0; };
  const auto is_odd = [](const Value& value) {
    int exponent = 0;
    return std::frexp(value.number(), &exponent) != 0.5;
  };
  for (const Parameter& parameter : space.parameters()) {
    const std::vector<Value>& values = parameter.values;
    odd_.emplace_back(values.size(), 0);
    if (values.size() < 3 || !std::ranges::all_of(values, is_size)) continue;
    std::ranges::transform(values, odd_.back().begin(), is_odd);
  }
}

int OddSizes::count(std::size_t index) const {
  const Levels levels = space_.levels(index);
  int count = 0;
  for (std::size_t p = 0; p < levels.size(); ++p) count += odd_[p][levels[p]];
  return count;
}

bool OddSizes::any() const {
  return std::ranges::any_of(odd_, [](const std::vector<char>& values) {
    return std::ranges::find(values, 1) != values.end();
  });
}

float Prior::trend(std::size_t index) const {
  return is_model() ? log_predicted[index] : kOddSize * static_cast<float>(odd_sizes.count(index));
}

Prior prior_of(const ParameterSpace& space, std::span<const double> predicted) {
  Prior prior{log_predictions(predicted), hopeless(predicted), {}, OddSizes(space)};
  if (space.size() > kMostCandidates) {
    prior.favourites = predicted_best(prior.log_predicted, kPredicted);
  }
  return prior;
}

std::optional<std::size_t> Candidates::row_of(std::size_t index) const {
  const auto found = std::lower_bound(indices.begin(), indices.end(), index);
  if (found == indices.end() || *found != index) return std::nullopt;
  return static_cast<std::size_t>(found - indices.begin());
}

Candidates draw_candidates(const ParameterSpace& space, const LevelCoordinates& coordinates,
                           const Prior& prior, const Observations& observations,
                           RandomSource& random) {
  Candidates candidates;
  candidates.indices = chosen_indices(space, prior.favourites, observations, random);
  if (!prior.hopeless.empty()) {
    std::erase_if(candidates.indices, [&](std::size_t index) { return prior.hopeless[index]; });
  }
  candidates.points = coordinates.points(candidates.indices);
  candidates.product_basis = coordinates.product_basis();
  candidates.is_trend_in_seconds = prior.is_model();
  if (prior.has_trend()) {
    candidates.trend.resize(static_cast<Eigen::Index>(candidates.indices.size()));
    std::ranges::transform(candidates.indices, candidates.trend.begin(),
                           [&](std::size_t index) { return prior.trend(index); });
  }
  candidates.asked.assign(candidates.indices.size(), 0);
  for (const std::size_t index : observations.indices()) {
    if (const auto row = candidates.row_of(index)) candidates.asked[*row] = 1;
  }
  return candidates;
}

namespace {

/// Without compiling, an evaluation takes at most a quarter of the time. So a quarter of the
/// expected improvement is at least as much per second.
constexpr float kShare = 0.25F;
constexpr std::size_t kLookedAt = 64;
constexpr std::size_t kAtATime = 16;  // asks the evaluator in groups, the best first

}  // namespace

void ReadyMemory::forget_missing() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second; });
}

std::optional<Eigen::Index> ReadyMemory::best(const Eigen::ArrayXf& scores,
                                              const std::vector<std::size_t>& indices) {
  const float enough = kShare * scores.maxCoeff();
  std::vector<std::pair<float, Eigen::Index>> high;  // -score, row
  for (Eigen::Index row = 0; row < scores.size(); ++row) {
    if (scores[row] >= enough && scores[row] > 0) high.emplace_back(-scores[row], row);
  }
  const std::size_t count = std::min(kLookedAt, high.size());
  std::partial_sort(high.begin(), high.begin() + static_cast<std::ptrdiff_t>(count), high.end());
  for (std::size_t first = 0; first < count; first += kAtATime) {
    const std::size_t last = std::min(first + kAtATime, count);
    std::vector<std::size_t> next;
    for (std::size_t i = first; i < last; ++i) {
      next.push_back(indices[static_cast<std::size_t>(high[i].second)]);
    }
    ask(next);
    for (std::size_t i = first; i < last; ++i) {
      if (known_.at(next[i - first])) return high[i].second;
    }
  }
  return std::nullopt;
}

void ReadyMemory::ask(std::span<const std::size_t> indices) {
  std::vector<std::size_t> unknown;
  for (const std::size_t index : indices) {
    if (!known_.contains(index)) unknown.push_back(index);
  }
  const std::vector<bool> answers = evaluator_.ready(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i) known_.emplace(unknown[i], answers[i]);
}

namespace {

/// By linear interpolation of the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

void Observations::add(const Evaluation& answer) {
  if (!place_.emplace(answer.index, indices_.size()).second) return;
  indices_.push_back(answer.index);
  // The lower bound of a pruned configuration is as informative as the time of a slow one.
  const bool timed = answer.seconds && *answer.seconds > 0 &&
                     (answer.outcome == Outcome::ok || answer.outcome == Outcome::pruned);
  log_seconds_.push_back(timed ? std::optional(std::log(*answer.seconds)) : std::nullopt);
  if (!timed) return;
  const auto time_of = [&](std::size_t place) {
    return std::pair(*log_seconds_[place], indices_[place]);
  };
  const std::size_t place = indices_.size() - 1;
  fastest_.insert(std::ranges::upper_bound(fastest_, time_of(place), {}, time_of), place);
  if (answer.outcome == Outcome::ok) best_ = std::min(best_, *log_seconds_.back());
}

Targets targets_of(const Observations& observations, std::span<const std::size_t> places) {
  std::vector<double> sorted;
  for (const std::size_t place : places) {
    if (const auto time = observations.log_seconds(place)) sorted.push_back(*time);
  }
  const auto count = static_cast<Eigen::Index>(places.size());
  Targets targets{Eigen::VectorXd::Zero(count)};
  if (sorted.empty()) return targets;
  std::sort(sorted.begin(), sorted.end());
  const double ceiling = quantile(sorted, 0.75);
  const double middle = quantile(sorted, 0.5);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto time = observations.log_seconds(places[static_cast<std::size_t>(i)]);
    targets.values[i] = time ? std::min(*time, ceiling) : middle;
  }
  targets.mean = targets.values.mean();
  targets.deviation = std::sqrt((targets.values.array() - targets.mean).square().mean());
  if (!(targets.deviation > 1e-9)) targets.deviation = 1;
  targets.values = (targets.values.array() - targets.mean) / targets.deviation;
  targets.best = (sorted.front() - targets.mean) / targets.deviation;
  return targets;
}

}  // namespace autotune
