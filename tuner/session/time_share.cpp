// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_share.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace autotune {
namespace {

/// What is left to do, in problems of this one's weight.
double rest_of(const std::vector<double>& weights, std::size_t number, std::size_t unfinished) {
  if (weights.empty()) return static_cast<double>(unfinished);
  const auto own = weights.begin() + static_cast<std::ptrdiff_t>(number);
  return std::accumulate(own, weights.end(), 0.0) / *own;
}

}  // namespace

std::optional<double> time_share(const TuningRequest& request, std::size_t number,
                                 std::size_t unfinished, std::size_t devices) {
  if (request.budget.kind != Budget::Kind::seconds) return std::nullopt;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - request.started;
  const double rounds = rest_of(request.weights, number, unfinished) / static_cast<double>(devices);
  return (request.budget.amount - passed.count()) / std::max(1.0, rounds);
}

}  // namespace autotune
