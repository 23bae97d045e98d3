// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace autotune {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double median_of_sorted(std::span<const double> values) {
  assert(!values.empty());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// How many values may lie outside each end of a 95 % interval of the median of n: the largest k
/// with P(Binomial(n, 1/2) < k) <= 0.025.
std::size_t outside_each_end(std::size_t n) {
  if (n > 200) {
    const auto count = static_cast<double>(n);
    return static_cast<std::size_t>(count / 2 - 0.98 * std::sqrt(count));
  }
  double probability = std::ldexp(1.0, -static_cast<int>(n));
  double below = probability;
  std::size_t k = 0;
  while (below <= 0.025) {
    ++k;
    probability *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    below += probability;
  }
  return k;
}

std::pair<double, double> median_interval(std::span<const double> values) {
  const std::size_t k = outside_each_end(values.size());
  const std::size_t first = k > 0 ? k - 1 : 0;
  return {values[first], values[values.size() - 1 - first]};
}

/// The 0.995 quantile of Student's t; beyond the table the last row, which is a little wide.
double t_quantile(std::size_t degrees_of_freedom) {
  static constexpr std::array kTable = {63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355,
                                        3.250,  3.169, 3.106, 3.055, 3.012, 2.977, 2.947};
  return kTable[std::min(degrees_of_freedom, kTable.size()) - 1];
}

}  // namespace

Measurement summarize(std::span<const double> seconds) {
  const std::vector<double> values = sorted(seconds);
  const auto [low, high] = median_interval(values);
  return {median_of_sorted(values), low,  high, static_cast<int>(values.size()),
          count_outliers(seconds),  false};
}

double median(std::span<const double> values) { return median_of_sorted(sorted(values)); }

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_error(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

double relative_half_width(std::span<const double> values) {
  if (values.size() < 2) return std::numeric_limits<double>::infinity();
  return t_quantile(values.size() - 1) * standard_error(values) / mean(values);
}

Ratio paired_ratio(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) logs[i] = std::log(a[i] / b[i]);
  std::ranges::sort(logs);
  const auto [low, high] = median_interval(logs);
  return {std::exp(median_of_sorted(logs)), std::exp(low), std::exp(high)};
}

int count_outliers(std::span<const double> seconds) {
  const double centre = median(seconds);
  std::vector<double> distances;
  for (const double value : seconds) distances.push_back(std::abs(value - centre));
  // 1.4826 median absolute deviations estimate a standard deviation.
  const double limit = std::max(0.01 * centre, 5 * 1.4826 * median(distances));
  return static_cast<int>(
      std::ranges::count_if(seconds, [&](double value) { return value > centre + limit; }));
}

}  // namespace autotune
