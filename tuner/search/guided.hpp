// SPDX-License-Identifier: Apache-2.0
// The default strategy: the cost model proposes first, Gaussian processes take over.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Starts with a few configurations that the cost model ranks high and that lie far apart (far
/// apart alone without a model), then measures where two Gaussian processes, in turn, expect the
/// largest improvement. docs/search.md tells how and why, with figures.
class GuidedSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
