// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/tuning_request.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tuner/core/error.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::size_t Budget::evaluations(std::size_t space_size) const {
  double allowed = static_cast<double>(space_size);
  if (kind == Kind::evaluations) allowed = std::min(allowed, amount);
  if (kind == Kind::automatic) {
    allowed = std::min(allowed, static_cast<double>(AutomaticEnd::kMost));
  }
  if (kind == Kind::percent) allowed = std::ceil(allowed * amount / 100);
  return static_cast<std::size_t>(std::max(allowed, 1.0));
}

Budget parse_budget(std::string_view text) {
  if (text == "auto") return {Budget::Kind::automatic, 0};
  const std::string word(text);
  char* end = nullptr;
  const double amount = std::strtod(word.c_str(), &end);
  const std::string unit(end);
  const bool number = end != word.c_str() && std::isfinite(amount) && amount > 0;
  if (number && unit == "s") return {Budget::Kind::seconds, amount};
  if (number && unit == "m") return {Budget::Kind::seconds, amount * 60};
  if (number && unit == "%" && amount <= 100) return {Budget::Kind::percent, amount};
  if (number && unit.empty() && amount == std::floor(amount) && amount <= 1e9) {
    return {Budget::Kind::evaluations, amount};
  }
  throw UsageError(
      format("\"{}\" is not a budget: give auto, evaluations for each problem (200), a share of "
             "the space (10%) "
             "or the time of the whole run (60s, 2m)",
             text));
}

void RunProgress::note(const Progress& progress, double now) {
  const double total = static_cast<double>(std::max<std::size_t>(1, progress.total));
  const double share = std::min(1.0, static_cast<double>(progress.done) / total);
  problems_ = std::max<std::size_t>(1, progress.problems);
  set_share(progress.problem_text, share, now);
  if (!progress.best_seconds) return;
  const BestSoFar fresh{*progress.best_seconds, *progress.best_seconds, progress.done};
  BestSoFar& best = best_.emplace(progress.problem_text, fresh).first->second;
  if (*progress.best_seconds == best.seconds) return;
  best.seconds = *progress.best_seconds;
  best.found_at = progress.done;
}

void RunProgress::note_end_of(const std::string& problem_text, double now) {
  set_share(problem_text, 1, now);
}

void RunProgress::set_share(const std::string& problem_text, double share, double now) {
  const auto before = shares_.find(problem_text);
  const bool is_other_run = before != shares_.end() && share < before->second;
  if (is_other_run) shares_.clear();
  const bool is_first = shares_.empty();
  shares_[problem_text] = share;
  if (!is_first) return;
  first_share_ = share_done();
  first_time_ = now;
}

double RunProgress::share_done() const {
  double sum = 0;
  for (const auto& [problem, share] : shares_) sum += share;
  return sum / static_cast<double>(problems_);
}

std::optional<double> RunProgress::seconds_left(double now) const {
  const double share = share_done();
  if (share >= 1) return std::nullopt;
  if (end_) return std::max(0.0, *end_ - now);
  if (!(share > first_share_)) return std::nullopt;
  return (1 - share) * (now - first_time_) / (share - first_share_);
}

std::optional<BestSoFar> RunProgress::best_of(const std::string& problem_text) const {
  const auto found = best_.find(problem_text);
  return found == best_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace autotune
