// SPDX-License-Identifier: Apache-2.0
// Coordinate search with restarts.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Starts at a random configuration. Takes the parameters in random order, tries all other valid
/// values of each, and keeps the best. If a round over all parameters improves nothing, starts
/// again elsewhere. The first start is the best known configuration, if any.
class CoordinateSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
