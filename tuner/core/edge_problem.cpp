// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// One past this cuts most tiles, at little cost.
constexpr std::int64_t kTiles = 256;

}  // namespace

std::optional<Problem> edge_problem(const Target& target, const Problem& problem) {
  if (target.reference.kind == ReferenceSpec::Kind::file) return std::nullopt;
  Problem edge = problem;
  for (NamedValue& one : edge.values) {
    const bool is_size = std::ranges::find(target.sizes, one.name) != target.sizes.end();
    if (is_size) one.value = std::min(one.value.integer(), kTiles) + 1;
  }
  return edge;
}

}  // namespace autotune
