// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/random.hpp"

#include "tuner/search/ask.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {

void RandomSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  RandomSource random(seed);
  ask_in_order(evaluator, random_order(evaluator.space().size(), random));
}

}  // namespace autotune
