// SPDX-License-Identifier: Apache-2.0
// The fewest configurations that serve all problems well: a set cover.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace autotune {

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
