// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include <limits>

namespace autotune {
namespace {

/// The number of the last evaluation that lowered the best time by kGain; nullopt without a time.
std::optional<std::size_t> last_gain(std::span<const Evaluation> known) {
  double best = std::numeric_limits<double>::infinity();
  std::optional<std::size_t> last;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i].seconds || *known[i].seconds >= (1 - AutomaticEnd::kGain) * best) continue;
    best = *known[i].seconds;
    last = i + 1;
  }
  return last;
}

}  // namespace

void AutomaticEnd::note(std::span<const Evaluation> known, double gain) {
  const std::size_t evaluations = known.size();
  const bool goes_on = !expected_ && evaluations >= kFewest + kInARow;
  expected_ = gain;
  if (has_hints_) improved_at_ = last_gain(known);
  if (gain >= kGain) {
    little_since_.reset();
  } else if (!little_since_) {
    little_since_ = goes_on ? evaluations - kInARow : evaluations;
  }
}

bool AutomaticEnd::is_reached(std::size_t evaluations) const {
  if (evaluations >= kMost) return true;
  if (improved_at_ && evaluations >= 2 * *improved_at_ + kPatience) return true;
  return evaluations >= kFewest && little_since_ && evaluations >= *little_since_ + kInARow;
}

}  // namespace autotune
