// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/ready.hpp"

#include <algorithm>
#include <utility>

namespace autotune {
namespace {

/// Without compiling, an evaluation takes at most a quarter of the time. So a quarter of the
/// expected improvement is at least as much per second.
constexpr float kShare = 0.25F;
constexpr std::size_t kLookedAt = 64;
constexpr std::size_t kAtATime = 16;  // asks the evaluator in groups, the best first

}  // namespace

void ReadyMemory::forget_missing() {
  std::erase_if(known_, [](const auto& entry) { return !entry.second; });
}

std::optional<Eigen::Index> ReadyMemory::best(const Eigen::ArrayXf& scores,
                                              const std::vector<std::size_t>& indices) {
  const float enough = kShare * scores.maxCoeff();
  std::vector<std::pair<float, Eigen::Index>> high;  // -score, row
  for (Eigen::Index row = 0; row < scores.size(); ++row) {
    if (scores[row] >= enough && scores[row] > 0) high.emplace_back(-scores[row], row);
  }
  const std::size_t count = std::min(kLookedAt, high.size());
  std::partial_sort(high.begin(), high.begin() + static_cast<std::ptrdiff_t>(count), high.end());
  for (std::size_t first = 0; first < count; first += kAtATime) {
    const std::size_t last = std::min(first + kAtATime, count);
    std::vector<std::size_t> next;
    for (std::size_t i = first; i < last; ++i) {
      next.push_back(indices[static_cast<std::size_t>(high[i].second)]);
    }
    ask(next);
    for (std::size_t i = first; i < last; ++i) {
      if (known_.at(next[i - first])) return high[i].second;
    }
  }
  return std::nullopt;
}

void ReadyMemory::ask(std::span<const std::size_t> indices) {
  std::vector<std::size_t> unknown;
  for (const std::size_t index : indices) {
    if (!known_.contains(index)) unknown.push_back(index);
  }
  const std::vector<bool> answers = evaluator_.ready(unknown);
  for (std::size_t i = 0; i < unknown.size(); ++i) known_.emplace(unknown[i], answers[i]);
}

}  // namespace autotune
