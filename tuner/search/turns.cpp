// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/turns.hpp"

#include <array>

namespace autotune {
namespace {

using enum Proposer;
constexpr std::array kFresh = {smooth, stepped, smooth, local};
constexpr std::array kStale = {smooth, random, local, stepped, around, random, local, around};
constexpr std::array kStuckRound = {around, smooth, around,  random, around,
                                    local,  around, stepped, random, local};

}  // namespace

void Turns::observe(std::size_t observations, double fastest) {
  // The mark moves only at a gain, so a small step along a plateau does not restart the count.
  if (fastest < mark_ - kGain) {
    mark_ = fastest;
    marked_at_ = observations;
  }
  waited_ = observations - marked_at_;
}

Proposer Turns::next(bool ending) {
  const Proposer proposer = next_of_round();
  return ending && proposer == random ? around : proposer;
}

Proposer Turns::next_of_round() {
  if (waited_ >= kStuck) return kStuckRound[stuck_turn_++ % kStuckRound.size()];
  if (waited_ >= kPatience) return kStale[stale_turn_++ % kStale.size()];
  return kFresh[fresh_turn_++ % kFresh.size()];
}

}  // namespace autotune
