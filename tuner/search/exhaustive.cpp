// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/exhaustive.hpp"

#include <numeric>

#include "tuner/search/ask.hpp"

namespace autotune {

void ExhaustiveSearch::search(Evaluator& evaluator, std::uint64_t) {
  std::vector<std::size_t> order(evaluator.space().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ask_in_order(evaluator, order);
}

}  // namespace autotune
