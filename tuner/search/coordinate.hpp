// SPDX-License-Identifier: Apache-2.0
// Coordinate search with restarts.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

/// From a random configuration: takes the parameters in random order, tries all their other valid
/// values, keeps the best; when a round over all parameters improves nothing, starts again
/// elsewhere. The first start is the best of what is known, if anything is.
class CoordinateSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
