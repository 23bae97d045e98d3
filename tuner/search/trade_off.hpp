// SPDX-License-Identifier: Apache-2.0
// The trade-off between the number of configurations and the time lost on many problems.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace autotune {

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

}  // namespace autotune
