// SPDX-License-Identifier: Apache-2.0
// Every configuration, in order.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

class ExhaustiveSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
