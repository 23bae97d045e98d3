// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/transfer_choice.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace autotune {
namespace {

/// Added to the logarithm of a score for each doubling of the sizes on the way from a winner.
constexpr double kDistancePenalty = 0.2;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

std::optional<std::size_t> choose_winner(std::span<const NearWinner> winners,
                                         double default_predicted) {
  std::vector<double> scores, off, off_at_default;
  for (const NearWinner& one : winners) {
    scores.push_back(one.predicted + one.bias.winner + kDistancePenalty * one.distance);
    off.push_back(one.bias.winner);
    if (one.bias.at_default) off_at_default.push_back(*one.bias.at_default);
  }
  const auto least = std::ranges::min_element(scores);
  if (least == scores.end()) return std::nullopt;
  const bool judged = !off_at_default.empty();  // else nobody knows what the default takes
  if (judged && *least + deviation(off) >= default_predicted + mean(off_at_default))
    return std::nullopt;
  return static_cast<std::size_t>(least - scores.begin());
}

}  // namespace autotune
