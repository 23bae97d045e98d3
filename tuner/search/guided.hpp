// SPDX-License-Identifier: Apache-2.0
// The default strategy: the cost model proposes first, Gaussian processes take over.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Starts with a few configurations that the cost model ranks high and that lie far apart (far
/// apart alone without a model). Then two Gaussian processes propose in turn where they expect the
/// largest improvement, with neighbours of the fastest in between; random configurations join while
/// nothing improves. docs/search.md tells how and why, with figures.
class GuidedSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
