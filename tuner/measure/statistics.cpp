// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tuner/probability/quantiles.hpp"

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

std::pair<double, double> median_interval(std::span<const double> values) {
  const std::size_t k = ranks_outside_median_interval(values.size());
  const std::size_t first = k > 0 ? k - 1 : 0;
  return {values[first], values[values.size() - 1 - first]};
}

}  // namespace

Measurement summarize(std::span<const double> seconds) {
  const std::vector<double> values = sorted(seconds);
  const auto [low, high] = median_interval(values);
  return {median_of_sorted(values), low,   high, static_cast<int>(values.size()),
          count_outliers(seconds),  false, 0};
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
  return student_t_quantile(0.995, values.size() - 1) * standard_error(values) / mean(values);
}

Ratio paired_ratio(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) logs[i] = std::log(a[i] / b[i]);
  std::ranges::sort(logs);
  const auto [low, high] = median_interval(logs);
  return {std::exp(median_of_sorted(logs)), std::exp(low), std::exp(high),
          static_cast<int>(logs.size())};
}

bool is_clearly_below_one(const Ratio& ratio) {
  return ratio.samples >= kFewestForInterval && ratio.high < 1;
}

int count_outliers(std::span<const double> seconds) {
  const double centre = median(seconds);
  std::vector<double> distances;
  for (const double value : seconds) distances.push_back(std::abs(value - centre));
  // For normal errors, the standard deviation is 1.4826 median absolute deviations.
  const double limit = std::max(0.01 * centre, 5 * 1.4826 * median(distances));
  return static_cast<int>(
      std::ranges::count_if(seconds, [&](double value) { return value > centre + limit; }));
}

}  // namespace autotune
