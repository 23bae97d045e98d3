// SPDX-License-Identifier: Apache-2.0
// Who proposes the next configuration of a guided search.
#pragma once

#include <cstddef>
#include <limits>

namespace autotune {

enum class Proposer {
  smooth,   // the Gaussian process without a step
  stepped,  // the one with a step for any change of a value
  local,    // the neighbours of the fastest, ranked by the stepped one
  random,   // any configuration
};

/// Takes turns: smooth, stepped, smooth, local. A surrogate that has settled on a plateau proposes
/// more of it, so while the search is stale every third proposal is random, and every third local.
class Turns {
 public:
  /// To be called after each observation, with how many there are and the log seconds of the
  /// fastest. The search is stale after kPatience of them without a gain of kGain.
  void observe(std::size_t observations, double fastest);
  Proposer next();

  static constexpr std::size_t kPatience = 10;
  static constexpr double kGain = 0.02;  // of log seconds, since the last gain

 private:
  double mark_ = std::numeric_limits<double>::infinity();
  std::size_t marked_at_ = 0;
  bool stale_ = false;
  std::size_t fresh_turn_ = 0;
  std::size_t stale_turn_ = 0;
};

}  // namespace autotune
