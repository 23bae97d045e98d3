// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/listed.hpp"

#include "tuner/search/ask.hpp"

namespace autotune {

void ListedConfigurations::search(Evaluator& evaluator, std::uint64_t) {
  std::vector<std::size_t> indices;
  for (const Configuration& one : list_) {
    if (const auto index = evaluator.space().find(one)) indices.push_back(*index);
  }
  ask_in_order(evaluator, indices);
}

}  // namespace autotune
