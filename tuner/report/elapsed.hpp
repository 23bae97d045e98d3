// SPDX-License-Identifier: Apache-2.0
// The time of each trial in a search, and the distribution of the search's time.
#pragma once

#include <string>
#include <vector>

#include "db/rows.hpp"

namespace autotune::report {

/// Seconds since the first trial, one per trial. The time between two sessions does not count.
std::vector<double> elapsed_of(const std::vector<db::TrialRow>& trials);

/// Trials of one stage and outcome.
struct Spent {
  std::string stage, outcome;
  int trials = 0;
  double elapsed_seconds = 0;  // since the previous trial, summed
  double compile_seconds = 0;  // of all compilers together, which run at the same time
};

/// The longest time first.
std::vector<Spent> spent_on(const std::vector<db::TrialRow>& trials);

}  // namespace autotune::report
