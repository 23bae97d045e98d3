// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// One past this cuts most tiles, at little cost.
constexpr std::int64_t kTiles = 256;

std::int64_t edge_size(std::int64_t size, const SizeRule& rule) {
  if (rule.fixed) return *rule.fixed;
  const std::int64_t fewest = (rule.least + rule.multiple - 1) / rule.multiple;
  return std::max(std::min(size, kTiles) / rule.multiple + 1, fewest) * rule.multiple;
}

}  // namespace

std::optional<Problem> edge_problem(const Target& target, const Problem& problem) {
  if (target.reference.kind == ReferenceSpec::Kind::file) return std::nullopt;
  Problem edge = problem;
  for (NamedValue& one : edge.values) {
    const auto size = std::ranges::find(target.sizes, one.name);
    if (size == target.sizes.end()) continue;
    const auto index = static_cast<std::size_t>(size - target.sizes.begin());
    const SizeRule rule = target.size_rules.empty() ? SizeRule{} : target.size_rules[index];
    one.value = edge_size(one.value.integer(), rule);
  }
  return edge;
}

}  // namespace autotune
