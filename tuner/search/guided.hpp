// SPDX-License-Identifier: Apache-2.0
// The default strategy: the cost model proposes first, Gaussian processes take over.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Starts with configurations that the cost model ranks high and that lie far apart; without a
/// model, far apart only. Then two Gaussian processes take turns. Each proposes the configuration
/// with the largest expected improvement. Neighbours of the fastest come in between, and random
/// configurations if nothing improves. docs/search.md explains each step, with figures.
class GuidedSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
