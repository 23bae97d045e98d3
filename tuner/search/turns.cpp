// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/turns.hpp"

#include <array>

namespace autotune {
namespace {

using enum Proposer;
constexpr std::array kFresh = {smooth, stepped, smooth, local};
constexpr std::array kStale = {smooth, random, local, stepped, random, local};

}  // namespace

void Turns::observe(std::size_t observations, double fastest) {
  // The mark moves only at a gain, so a small step along a plateau does not restart the count.
  if (fastest < mark_ - kGain) {
    mark_ = fastest;
    marked_at_ = observations;
  }
  stale_ = observations - marked_at_ >= kPatience;
}

Proposer Turns::next() {
  return stale_ ? kStale[stale_turn_++ % kStale.size()] : kFresh[fresh_turn_++ % kFresh.size()];
}

}  // namespace autotune
