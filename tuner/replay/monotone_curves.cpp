// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/monotone_curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace autotune {
namespace {

/// Of the parabola through three points, at the first; limited to stay monotone.
double end_slope(double width, double next_width, double slope, double next_slope) {
  const double end = ((2 * width + next_width) * slope - width * next_slope) / (width + next_width);
  if (end * slope <= 0) return 0;
  return slope * next_slope < 0 && std::abs(end) > 3 * std::abs(slope) ? 3 * slope : end;
}

/// The slope of the cubic at each point.
std::vector<double> slopes_of(std::span<const double> x, std::span<const double> y) {
  std::vector<double> width, slope;  // of each interval
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    width.push_back(x[i + 1] - x[i]);
    slope.push_back((y[i + 1] - y[i]) / width.back());
  }
  if (slope.size() == 1) return {slope[0], slope[0]};
  std::vector<double> slopes = {end_slope(width[0], width[1], slope[0], slope[1])};
  for (std::size_t i = 1; i < slope.size(); ++i) {
    const double before = 2 * width[i] + width[i - 1], after = width[i] + 2 * width[i - 1];
    const bool turns = slope[i - 1] * slope[i] <= 0;
    slopes.push_back(turns ? 0 : (before + after) / (before / slope[i - 1] + after / slope[i]));
  }
  const std::size_t last = slope.size() - 1;
  slopes.push_back(end_slope(width[last], width[last - 1], slope[last], slope[last - 1]));
  return slopes;
}

/// Points that share a value of the fit.
struct Pool {
  double first, last, mean, weight;

  void take(const Pool& next) {
    mean = (mean * weight + next.mean * next.weight) / (weight + next.weight);
    weight += next.weight;
    last = next.last;
  }
};

}  // namespace

std::vector<double> monotone_cubic(std::span<const double> x, std::span<const double> y,
                                   std::span<const double> at) {
  if (x.size() == 1) return std::vector<double>(at.size(), y[0]);
  const std::vector<double> slopes = slopes_of(x, y);
  std::vector<double> values;
  std::size_t i = 0;
  for (const double place : at) {
    while (i + 2 < x.size() && place > x[i + 1]) ++i;
    const double width = x[i + 1] - x[i], t = (place - x[i]) / width, u = 1 - t;
    values.push_back(u * u * ((1 + 2 * t) * y[i] + t * width * slopes[i]) +
                     t * t * ((1 + 2 * u) * y[i + 1] - u * width * slopes[i + 1]));
  }
  return values;
}

std::vector<double> falling_regression(std::span<const WeightedPoint> points,
                                       std::span<const double> at) {
  std::vector<Pool> places;  // of one x each
  for (const auto& [x, y, weight] : points) {
    if (weight == 0) continue;
    const Pool point{x, x, y, weight};
    if (!places.empty() && places.back().last == x) {
      places.back().take(point);
    } else {
      places.push_back(point);
    }
  }
  std::vector<Pool> pools;
  for (const Pool& place : places) {
    pools.push_back(place);
    while (pools.size() > 1 && pools[pools.size() - 2].mean < pools.back().mean) {
      const Pool rising = pools.back();
      pools.pop_back();
      pools.back().take(rising);
    }
  }
  std::vector<double> values;
  std::size_t i = 0;
  for (const double place : at) {
    while (i + 1 < pools.size() && pools[i + 1].first <= place) ++i;
    const bool is_between = place > pools[i].last && i + 1 < pools.size();
    const double part =
        is_between ? (place - pools[i].last) / (pools[i + 1].first - pools[i].last) : 0;
    values.push_back(is_between ? std::lerp(pools[i].mean, pools[i + 1].mean, part)
                                : pools[i].mean);
  }
  return values;
}

}  // namespace autotune
