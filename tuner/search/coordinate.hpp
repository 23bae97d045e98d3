// SPDX-License-Identifier: Apache-2.0
// Coordinate search with restarts.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Takes the parameters in random order, tries all other valid values of each, and keeps the best.
/// If a round over all parameters improves nothing, restarts at a random configuration. The first
/// start is the best known configuration; if there is none, a random one.
class CoordinateSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
