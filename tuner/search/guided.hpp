// SPDX-License-Identifier: Apache-2.0
// The default strategy: the cost model proposes first, Gaussian processes take over.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Starts with configurations that the cost model ranks high and that lie far apart; without a
/// model, far apart only. Then two Gaussian processes take turns. Each proposes the configuration
/// with the largest expected improvement. Neighbours of the fastest come in between, and random
/// configurations if nothing improves. docs/search.md explains each step, with figures.
class GuidedSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
  std::vector<std::size_t> first(Evaluator& evaluator, std::uint64_t seed) override;
};

// Which method proposes the next configuration of a guided search.

enum class Proposer {
  smooth,   // Gaussian process without a step
  stepped,  // Gaussian process with a step for any change of a value
  local,    // neighbours of the fastest few, ranked by the stepped process
  random,   // any configuration
  around,   // within two changes of the fastest, ranked by ValueEffects
};

/// Takes turns: smooth, stepped, smooth, local. While the search is stale, a quarter of the
/// proposals are random, a quarter local and a quarter `around`, because a surrogate on a plateau
/// proposes more of the plateau. At the end of a search, `around` takes the place of random,
/// because no proposals are left to follow a random one up.
class Turns {
 public:
  /// Call after each observation. `fastest` is in log seconds. The search is stale after kPatience
  /// observations without a gain of kGain.
  void observe(std::size_t observations, double fastest);
  /// `ending`: few evaluations are left.
  Proposer next(bool ending = false);

  static constexpr std::size_t kPatience = 10;
  static constexpr double kGain = 0.02;  // of log seconds, since the last gain

 private:
  Proposer next_of_round();

  double mark_ = std::numeric_limits<double>::infinity();
  std::size_t marked_at_ = 0;
  std::size_t waited_ = 0;  // observations since the last gain
  std::size_t fresh_turn_ = 0;
  std::size_t stale_turn_ = 0;
};

}  // namespace autotune
