// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/trade_off.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/search/cover.hpp"

namespace autotune {
namespace {

/// `limit` and all larger finite ratios, ascending.
std::vector<double> limits_from(std::span<const std::vector<double>> ratios, double limit) {
  std::vector<double> limits{limit};
  for (const std::vector<double>& row : ratios) {
    for (const double ratio : row) {
      if (ratio > limit && std::isfinite(ratio)) limits.push_back(ratio);
    }
  }
  std::ranges::sort(limits);
  limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
  return limits;
}

TradeOff judged(std::span<const std::vector<double>> ratios, std::vector<std::size_t> chosen) {
  TradeOff result{std::move(chosen), 1, 1};
  const std::vector<double> least = least_ratios(ratios, result.chosen);
  double logs = 0;
  for (const double ratio : least) {
    result.worst = std::max(result.worst, ratio);
    logs += std::log(ratio);
  }
  result.mean = std::exp(logs / static_cast<double>(std::max<std::size_t>(least.size(), 1)));
  return result;
}

}  // namespace

std::vector<double> least_ratios(std::span<const std::vector<double>> ratios,
                                 std::span<const std::size_t> chosen) {
  const std::size_t problems = ratios.empty() ? 0 : ratios.front().size();
  std::vector<double> least(problems, std::numeric_limits<double>::infinity());
  for (const std::size_t candidate : chosen) {
    for (std::size_t p = 0; p < problems; ++p) {
      least[p] = std::min(least[p], ratios[candidate][p]);
    }
  }
  return least;
}

std::vector<TradeOff> trade_off(std::span<const std::vector<double>> ratios, double limit) {
  const std::vector<double> limits = limits_from(ratios, limit);
  const auto cover_at = [&](std::size_t i) { return smallest_cover(ratios, limits[i]); };
  std::vector<TradeOff> curve;
  Cover cover = cover_at(0);
  if (!cover.uncovered.empty() || cover.chosen.empty()) return curve;
  curve.push_back(judged(ratios, cover.chosen));
  std::size_t at = 0;
  while (cover.chosen.size() > 1) {
    // Bisects for the smallest limit that fewer configurations meet.
    std::size_t low = at + 1, high = limits.size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      const bool is_fewer = cover_at(middle).chosen.size() < cover.chosen.size();
      (is_fewer ? high : low) = is_fewer ? middle : middle + 1;
    }
    if (low == limits.size()) break;  // one alone fails somewhere
    at = low;
    cover = cover_at(at);
    curve.push_back(judged(ratios, cover.chosen));
  }
  std::ranges::reverse(curve);
  return curve;
}

}  // namespace autotune
