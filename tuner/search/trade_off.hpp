// SPDX-License-Identifier: Apache-2.0
// How well few configurations can serve many problems: losses against their number.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace autotune {

struct TradeOff {
  std::vector<std::size_t> chosen;  // candidates, ascending
  double worst = 1, mean = 1;       // ratio of the problem's best among them; mean is geometric
};

/// The ratio of the fastest of `chosen` at each problem. `ratios` as for smallest_cover().
std::vector<double> least_ratios(std::span<const std::vector<double>> ratios,
                                 std::span<const std::size_t> chosen);

/// For each number of configurations, the choice with the least worst ratio, as far as
/// smallest_cover() finds it; the last serves every problem within `limit`. Numbers that gain
/// nothing are left out, as are choices that do not serve every problem. Ends with an empty list if
/// no choice does.
std::vector<TradeOff> trade_off(std::span<const std::vector<double>> ratios, double limit);

}  // namespace autotune
