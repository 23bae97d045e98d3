// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/observations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/search/success.hpp"

namespace autotune {
namespace {

/// By linear interpolation of the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Observations::Observations() : best_(std::numeric_limits<double>::infinity()) {}

void Observations::add(const Evaluation& answer) {
  if (!place_.emplace(answer.index, indices_.size()).second) return;
  indices_.push_back(answer.index);
  note_shared_memory(answer);
  // The lower bound of a pruned configuration is as informative as the time of a slow one.
  const bool timed = answer.seconds && *answer.seconds > 0 &&
                     (answer.outcome == Outcome::ok || answer.outcome == Outcome::pruned);
  log_seconds_.push_back(timed ? std::optional(std::log(*answer.seconds)) : std::nullopt);
  if (!timed) return;
  ++valid_;
  if (answer.outcome == Outcome::ok) best_ = std::min(best_, *log_seconds_.back());
}

void Observations::note_shared_memory(const Evaluation& answer) {
  const std::optional<Refusal> refusal = refusal_of(answer.reason);
  refused_.push_back(refusal ? 1 : 0);
  if (refusal) {
    log_shared_limit_ = std::log(refusal->limit);
    log_shared_.emplace_back(std::log(refusal->bytes));
  } else if (answer.resources.shared_bytes > 0) {
    log_shared_.emplace_back(std::log(static_cast<double>(answer.resources.shared_bytes)));
  } else {
    log_shared_.emplace_back();
  }
}

std::vector<std::size_t> Observations::fastest() const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < size(); ++place) {
    if (log_seconds_[place]) places.push_back(place);
  }
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(*log_seconds_[a], indices_[a]) < std::pair(*log_seconds_[b], indices_[b]);
  });
  return places;
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
