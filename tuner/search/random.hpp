// SPDX-License-Identifier: Apache-2.0
// Uniformly random configurations, each once.
#pragma once

#include "tuner/search/strategy.hpp"

namespace autotune {

class RandomSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

}  // namespace autotune
