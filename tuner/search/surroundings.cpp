// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surroundings.hpp"

#include <cmath>
#include <limits>

#include "tuner/search/value_effects.hpp"

namespace autotune {

std::optional<std::size_t> Surroundings::best_row(const Observations& observations,
                                                  const Eigen::ArrayXf& success,
                                                  const std::vector<char>& taken) {
  const std::size_t fastest = observations.indices()[observations.fastest().front()];
  if (centre_ != fastest) around_ = neighbours_.within_two_changes(fastest);
  centre_ = fastest;
  const ValueEffects effects(space_, observations);
  std::optional<std::size_t> best;
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::size_t index : around_) {
    const auto row = candidates_.row_of(index);
    if (!row || taken[*row]) continue;
    double expected = effects.log_seconds(index);
    if (success.size() > 0) {
      expected -= std::log(static_cast<double>(success[static_cast<Eigen::Index>(*row)]));
    }
    if (expected >= shortest) continue;
    best = row;
    shortest = expected;
  }
  return best;
}

}  // namespace autotune
