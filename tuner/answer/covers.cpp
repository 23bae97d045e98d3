// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/covers.hpp"

#include <algorithm>

namespace autotune {

Covers::Covers(const db::PastTimes& times, const std::vector<bool>& same_device) {
  for (const db::PastProblem& problem : times.problems) {
    if (problem.cover.empty() || !same_device[problem.device]) continue;
    const std::vector<std::int64_t>& own = problem.sizes;
    Box& box = boxes_.try_emplace(problem.cover, Box{own, own}).first->second;
    for (std::size_t i = 0; i < own.size(); ++i) {
      box.low[i] = std::min(box.low[i], own[i]);
      box.high[i] = std::max(box.high[i], own[i]);
    }
  }
}

bool Covers::spans(const std::string& cover, std::span<const std::int64_t> sizes) const {
  const auto found = boxes_.find(cover);
  if (found == boxes_.end()) return false;
  const Box& box = found->second;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < box.low[i] || sizes[i] > box.high[i]) return false;
  }
  return true;
}

}  // namespace autotune
