// SPDX-License-Identifier: Apache-2.0
// The field's score of a search: how far it is ahead of random search at equal time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/replay/replay.hpp"

namespace autotune {

struct WeightedPoint {
  double x = 0, y = 0, weight = 1;
};

/// The package whose method is followed: Willemsen et al., "A Methodology for Comparing Auto-Tuning
/// Optimization Algorithms", Future Generation Computer Systems, 2024.
inline constexpr const char* kScoreMethod = "autotuning_methodology 1.1.0";

/// When searches of one space are compared: from the time at which random search is expected to
/// have gained 1 % of what lies between the median and the optimum, to that of 95 %.
struct ScoreRange {
  std::size_t evaluations = 0;  // of random search, until the end
  double from = 0, to = 0;      // seconds of tuning

  /// When runs may end: as in the package, a tenth later.
  double run_seconds() const { return 1.1 * to; }
};

/// With so many threads that compile; random search has as many. The package knows 1 only. Throws
/// Error if a working configuration has no recorded cost, or if there are so few that random search
/// would reach the optimum within the range.
ScoreRange score_range(const RecordedSpace& recorded, int threads = 1);

/// 0 is random search, 1 the optimum from the start.
struct Score {
  double mean = 0;
  double deviation = 0;  // of the package's scores of the same runs: it resamples at random
};

/// The mean of the package's scores of these runs, the same in every call. `threads`: of the runs.
/// A configuration that was stopped early counts at its lower bound. Throws Error as score_range()
/// does, or if no run has a result by the end of the range.
Score score_of(const RecordedSpace& recorded, std::span<const ReplayRun> runs, int threads = 1);

}  // namespace autotune
