// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/automatic_end.hpp"

namespace autotune {

void AutomaticEnd::note(std::size_t evaluations, double gain) {
  const bool goes_on = !expected_ && evaluations >= kFewest + kInARow;
  expected_ = gain;
  if (gain >= kGain) {
    little_since_.reset();
  } else if (!little_since_) {
    little_since_ = goes_on ? evaluations - kInARow : evaluations;
  }
}

bool AutomaticEnd::is_reached(std::size_t evaluations) const {
  if (evaluations >= kMost) return true;
  return evaluations >= kFewest && little_since_ && evaluations >= *little_since_ + kInARow;
}

}  // namespace autotune
