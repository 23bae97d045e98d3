// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// A size one larger leaves a partial tile for most tile sizes, and is cheap.
constexpr std::int64_t kTiles = 256;

std::int64_t edge_size(std::int64_t size, const SizeRule& rule) {
  if (rule.fixed) return *rule.fixed;
  const std::int64_t fewest = (rule.least + rule.multiple - 1) / rule.multiple;
  return std::max(std::min(size, kTiles) / rule.multiple + 1, fewest) * rule.multiple;
}

/// Whether an expression depends on the size, directly or through definitions.
bool hangs_on(const Target& target, const Expression& expression, const std::string& size) {
  return std::ranges::any_of(expression.names(), [&](const std::string& name) {
    const auto define = std::ranges::find(target.defines, name, &DefineSpec::name);
    return name == size ||
           (define != target.defines.end() && hangs_on(target, define->value, size));
  });
}

/// Whether an input's file fits one value of this size only. A file without a declared length may
/// belong to any size.
bool has_file_of_size(const Target& target, const std::string& size) {
  return std::ranges::any_of(target.arguments, [&](const ArgumentSpec& each) {
    return each.file && (!each.has_own_length || hangs_on(target, *each.length, size));
  });
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
    const std::int64_t changed = edge_size(one.value.integer(), rule);
    if (changed != one.value.integer() && has_file_of_size(target, *size)) return std::nullopt;
    one.value = changed;
  }
  return edge;
}

}  // namespace autotune
