// SPDX-License-Identifier: Apache-2.0
// The fewest configurations that serve all problems well: a set cover; what fewer of them cost.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace autotune {

/// The trade-off between the number of configurations and the time lost on many problems.
struct TradeOff {
  std::vector<std::size_t> chosen;  // candidates, ascending
  double worst = 1, mean = 1;       // over problems, of least_ratios(); the mean is geometric
};

/// For each problem, the ratio of the fastest of `chosen`. `ratios` as for smallest_cover().
std::vector<double> least_ratios(std::span<const std::vector<double>> ratios,
                                 std::span<const std::size_t> chosen);

/// For each number of configurations, the choice whose worst ratio is the smallest that
/// smallest_cover() finds. The last choice serves every problem within `limit`. Leaves out numbers
/// that gain nothing, and choices that leave a problem unserved. Empty if `limit` cannot be met.
std::vector<TradeOff> trade_off(std::span<const std::vector<double>> ratios, double limit);

struct Cover {
  std::vector<std::size_t> chosen;     // candidates, ascending
  std::vector<std::size_t> uncovered;  // problems that no candidate serves, ascending
  bool is_least = false;               // proved: no smaller choice covers as much
};

/// `ratios` has a row for each candidate: its time over the best of each problem, infinity where it
/// fails or is unknown. A candidate serves a problem if the ratio is at most `limit` (1.05: within
/// 5 %). Chooses greedily (most problems first, then the least sum of ratios), then looks for fewer
/// by branch and bound; `is_least` is false if that would take too long.
Cover smallest_cover(std::span<const std::vector<double>> ratios, double limit);

}  // namespace autotune
