// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

/// A size one larger leaves a partial tile for most tile sizes, and is cheap.
constexpr std::int64_t kTiles = 256;
constexpr std::int64_t kVector = 16;  // bytes

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

/// Bytes of an element of the argument whose strides depend on a size; 1 without one.
std::int64_t element_bytes(const Target& target, const Problem& problem, const std::string& size) {
  const auto uses = [&](const ArgumentSpec& each) {
    return std::ranges::any_of(
        each.strides, [&](const Expression& stride) { return hangs_on(target, stride, size); });
  };
  const auto argument = std::ranges::find_if(target.arguments, uses);
  if (argument == target.arguments.end()) return 1;
  const Value* const setting = find_value(problem.values, argument->type);
  const auto type = element_type(setting ? setting->text() : argument->type);
  return type ? bytes_of(*type) * argument->width : 1;
}

/// Values of a free size beside its default.
std::vector<std::int64_t> other_values(const Target& target, const Problem& problem,
                                       const DeviceInfo& device, const FreeSize& size,
                                       std::int64_t by_default) {
  if (size.most) return {scope_of(problem, device).evaluate(size.least)};
  const std::int64_t bytes = element_bytes(target, problem, size.name);
  return {by_default + std::max<std::int64_t>(kVector / bytes, 1), by_default + 1};
}

/// A rule may allow a single value of a size that has a default.
void keep_optional_sizes(const Target& target, const Problem& problem, Problem& edge) {
  for (std::size_t i = needed_sizes(target); i < target.sizes.size(); ++i) {
    const auto size = std::ranges::find(edge.values, target.sizes[i], &NamedValue::name);
    if (size != edge.values.end()) size->value = *find_value(problem.values, target.sizes[i]);
  }
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

std::vector<Problem> edge_problems(const Target& target, const Problem& problem,
                                   const DeviceInfo& device) {
  std::vector<Problem> problems;
  const bool may_refuse = !target.free_sizes.empty() || !target.rules.empty();
  const auto is_refused = [&](const Problem& one) {
    return may_refuse && !TargetProgram(target, one, device).refusal().empty();
  };
  const auto add = [&](const Problem& one) {
    if (!is_refused(one)) problems.push_back(one);
  };
  std::optional<Problem> edge = edge_problem(target, problem);
  if (!edge) return problems;
  if (is_refused(*edge)) keep_optional_sizes(target, problem, *edge);
  add(*edge);
  if (target.free_sizes.empty()) return problems;
  const std::vector<std::int64_t> defaults = TargetProgram(target, *edge, device).free_values();
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    const FreeSize& size = target.free_sizes[i];
    std::int64_t last = defaults[i];
    for (const std::int64_t value : other_values(target, *edge, device, size, defaults[i])) {
      if (std::exchange(last, value) == value) continue;
      Problem other = *edge;
      other.free.push_back({size.name, value});
      add(other);
    }
  }
  return problems;
}

}  // namespace autotune
