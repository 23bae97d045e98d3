// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/ask.hpp"

#include <algorithm>

namespace autotune {

bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices) {
  const auto batch = static_cast<std::size_t>(std::max(1, evaluator.batch()));
  while (!indices.empty()) {
    const auto now = indices.first(std::min(batch, indices.size()));
    indices = indices.subspan(now.size());
    evaluator.prefetch(indices.first(std::min(batch, indices.size())));
    if (evaluator.evaluate(now).size() < now.size()) return false;
  }
  return true;
}

}  // namespace autotune
