// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surroundings.hpp"

#include <cmath>
#include <limits>

#include "tuner/search/value_effects.hpp"

namespace autotune {
namespace {

constexpr double kTradeLead = 0.2;  // of log seconds
constexpr double kSame = 0.97;      // correlation of configurations that take the same time

/// Whether one parameter went up by a value and another one down. Of both, products such as the
/// size of a tile, and what they cost, change little.
bool is_trade(const ParameterSpace& space, const Levels& from, const Levels& to) {
  int up = 0, down = 0;
  for (std::size_t p = 0; p < from.size(); ++p) {
    if (from[p] == to[p]) continue;
    if (space.parameters()[p].values.size() < 3) return false;
    if (to[p] == from[p] + 1) {
      ++up;
    } else if (to[p] + 1 == from[p]) {
      ++down;
    } else {
      return false;
    }
  }
  return up == 1 && down == 1;
}

}  // namespace

std::optional<std::size_t> Surroundings::best_row(const Observations& observations,
                                                  const Kernel& kernel, const Points& known,
                                                  const Eigen::ArrayXf& success,
                                                  const std::vector<char>& taken) {
  const std::size_t fastest = observations.indices()[observations.fastest().front()];
  if (centre_ != fastest) around_ = neighbours_.within_two_changes(fastest);
  centre_ = fastest;
  const ValueEffects effects(space_, observations);
  const Levels centre = space_.levels(fastest);
  std::optional<std::size_t> best;
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::size_t index : around_) {
    const auto row = candidates_.row_of(index);
    if (!row || taken[*row]) continue;
    double expected = effects.log_seconds(index);
    if (is_trade(space_, centre, space_.levels(index))) expected -= kTradeLead;
    if (success.size() > 0) {
      expected -= std::log(static_cast<double>(success[static_cast<Eigen::Index>(*row)]));
    }
    if (expected >= shortest) continue;
    const auto point = candidates_.points.row(static_cast<Eigen::Index>(*row));
    if (largest_correlation(kernel, point, known) > kSame) continue;
    best = row;
    shortest = expected;
  }
  return best;
}

}  // namespace autotune
