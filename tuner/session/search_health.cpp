// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_health.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "tuner/model/rank_correlation.hpp"

namespace autotune {
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

}  // namespace autotune
