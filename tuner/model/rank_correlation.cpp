// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/rank_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace autotune {
namespace {

std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

std::vector<double> ranks_of(std::span<const double> values) {
  const std::vector<std::size_t> order = order_of(values);
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) {
      ranks[order[i]] = (static_cast<double>(first) + static_cast<double>(last - 1)) / 2;
    }
    first = last;
  }
  return ranks;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double top_ratio(std::span<const double> predicted, std::span<const double> measured,
                 std::size_t top) {
  const std::vector<std::size_t> order = order_of(predicted);
  double best = measured[order.front()];
  for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
    best = std::min(best, measured[order[i]]);
  }
  return best / *std::min_element(measured.begin(), measured.end());
}

}  // namespace autotune
