// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/edge_problem.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

/// A size one larger leaves a partial tile for most tile sizes, and is cheap.
constexpr std::int64_t kTiles = 256, kLongerTiles = 1024;
constexpr std::int64_t kVector = 16;  // bytes

/// The next multiple past the size, or past `tiles`.
std::int64_t edge_size(std::int64_t size, const SizeRule& rule, std::int64_t step,
                       std::int64_t tiles) {
  if (rule.fixed) return *rule.fixed;
  const std::int64_t multiple = std::lcm(rule.multiple, step);
  const std::int64_t fewest = (rule.least + multiple - 1) / multiple;
  return std::max(std::min(size, tiles) / multiple + 1, fewest) * multiple;
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

/// A rule may allow a single value of a size that has a default.
void keep_optional_sizes(const Target& target, const Problem& problem, Problem& edge) {
  for (std::size_t i = needed_sizes(target); i < target.sizes.size(); ++i) {
    const auto size = std::ranges::find(edge.values, target.sizes[i], &NamedValue::name);
    if (size != edge.values.end()) size->value = *find_value(problem.values, target.sizes[i]);
  }
}

/// A kernel that takes one size for another is right where they are alike.
enum class Shape : std::uint8_t { distinct, alike };

/// A multiple of `step` in place of each size without a default; see edge_problem(). `longer`: of
/// the size that is past kLongerTiles.
std::optional<Problem> edge_of(const Target& target, const Problem& problem, std::int64_t step,
                               std::string_view longer = {}, Shape shape = Shape::distinct) {
  if (target.reference.kind == ReferenceSpec::Kind::file) return std::nullopt;
  Problem edge = problem;
  std::set<std::int64_t> taken;
  for (NamedValue& one : edge.values) {
    const auto size = std::ranges::find(target.sizes, one.name);
    if (size == target.sizes.end()) continue;
    const auto index = static_cast<std::size_t>(size - target.sizes.begin());
    const SizeRule rule = size_rule(target, index);
    std::int64_t changed = edge_size(one.value.integer(), rule, rule.if_absent ? 1 : step,
                                     *size == longer ? kLongerTiles : kTiles);
    const bool may_differ = shape == Shape::distinct && !rule.fixed && !rule.if_absent;
    while (!taken.insert(changed).second && may_differ) {
      changed += 2 * std::lcm(rule.multiple, step);  // as odd a number of them
    }
    if (changed != one.value.integer() && has_file_of_size(target, *size)) return std::nullopt;
    one.value = changed;
  }
  return edge;
}

/// Bytes of an element.
std::int64_t element_bytes(const Problem& problem, const ArgumentSpec& argument) {
  const Value* const setting = find_value(problem.values, argument.type);
  const auto type = element_type(setting ? setting->text() : argument.type);
  return type ? bytes_of(*type) * argument.width : 1;
}

/// The edge problems of a target with rules or free sizes.
class Edges {
 public:
  Edges(const Target& target, const Problem& problem, const DeviceInfo& device)
      : target_(target),
        problem_(problem),
        device_(device),
        program_(target, problem, device, SizeBinding::given) {
    for (const FreeSize& size : target.free_sizes) argument_of_.push_back(argument_of(size.name));
  }

  /// False if the target refuses it.
  bool add(Problem edge) {
    if (!program_.refusal(given(edge)).empty()) return false;
    if (std::ranges::find(all_, edge) == all_.end()) all_.push_back(std::move(edge));
    return true;
  }

  /// A rule may allow a single value of a size that has a default: then it stays. nullopt if the
  /// target refuses this, too.
  std::optional<Problem> add_first(Problem edge) {
    if (add(edge)) return edge;
    keep_optional_sizes(target_, problem_, edge);
    return add(edge) ? std::optional(edge) : std::nullopt;
  }

  /// The free sizes that decide how the elements of this argument lie, larger by so many bytes, at
  /// least by an element. nullptr: of all arguments.
  void add_larger(const Problem& edge, const ArgumentSpec* argument, std::int64_t bytes) {
    Problem larger = edge;
    for (std::size_t i = 0; i < argument_of_.size(); ++i) {
      const ArgumentSpec* const own = argument_of_[i];
      if (target_.free_sizes[i].most || (argument && own != argument)) continue;
      const std::int64_t element = own ? element_bytes(problem_, *own) : 1;
      const std::int64_t value = program_.free_values(given(larger))[i];
      larger.free.push_back(
          {target_.free_sizes[i].name, value + std::max<std::int64_t>(bytes / element, 1)});
    }
    if (larger != edge) add(std::move(larger));
  }

  /// Each alignment at its least.
  void add_unaligned(const Problem& edge) {
    for (const FreeSize& size : target_.free_sizes) {
      if (!size.most) continue;
      Problem other = edge;
      other.free.push_back({size.name, scope_of(edge, device_).evaluate(size.least)});
      add(std::move(other));
    }
  }

  std::span<const ArgumentSpec* const> arguments() const { return argument_of_; }
  std::vector<Problem> take() { return std::move(all_); }

 private:
  /// The first whose strides depend on it; nullptr if none does.
  const ArgumentSpec* argument_of(const std::string& size) const {
    const auto uses = [&](const ArgumentSpec& each) {
      return std::ranges::any_of(
          each.strides, [&](const Expression& stride) { return hangs_on(target_, stride, size); });
    };
    const auto found = std::ranges::find_if(target_.arguments, uses);
    return found == target_.arguments.end() ? nullptr : &*found;
  }

  std::vector<std::int64_t> given(const Problem& problem) const {
    std::vector<std::int64_t> sizes = sizes_of(target_, problem);
    for (const FreeSize& size : target_.free_sizes) {
      const Value* const value = find_value(problem.free, size.name);
      sizes.push_back(value ? value->integer() : kDefaultSize);
    }
    return sizes;
  }

  const Target& target_;
  const Problem& problem_;
  const DeviceInfo& device_;
  const TargetProgram program_;
  std::vector<const ArgumentSpec*> argument_of_;  // of each free size
  std::vector<Problem> all_;
};

std::vector<Problem> usual_edges(const Target& target, const Problem& problem,
                                 const DeviceInfo& device) {
  Edges edges(target, problem, device);
  const auto first = [&](std::int64_t step) -> std::optional<Problem> {
    for (const Shape shape : {Shape::distinct, Shape::alike}) {
      const std::optional<Problem> edge = edge_of(target, problem, step, {}, shape);
      const std::optional<Problem> added = edge ? edges.add_first(*edge) : std::nullopt;
      if (added) return added;
    }
    return std::nullopt;
  };
  const std::optional<Problem> odd = first(1);
  if (target.free_sizes.empty()) return edges.take();
  std::optional<Problem> base = first(kVector);
  if (!base) base = odd;
  if (!base) return edges.take();
  edges.add_larger(*base, nullptr, kVector);
  std::vector<const ArgumentSpec*> arguments;
  for (const ArgumentSpec* const each : edges.arguments()) {
    if (!each || std::ranges::find(arguments, each) != arguments.end()) continue;
    edges.add_larger(*base, arguments.emplace_back(each), 1);
  }
  edges.add_unaligned(*base);
  return edges.take();
}

}  // namespace

std::optional<Problem> edge_problem(const Target& target, const Problem& problem) {
  return edge_of(target, problem, 1);
}

EdgeProblems edge_problems(const Target& target, const Problem& problem, const DeviceInfo& device) {
  const std::optional<Problem> edge = edge_problem(target, problem);
  if (!edge) return {};
  const std::int64_t step = target.free_sizes.empty() ? 1 : kVector;
  Edges longer(target, problem, device);
  const std::optional<Problem> alike = edge_of(target, problem, step, {}, Shape::alike);
  if (alike != edge_of(target, problem, step)) longer.add_first(*alike);
  for (std::size_t i = 0; i < needed_sizes(target); ++i) {
    const std::optional<Problem> one = edge_of(target, problem, step, target.sizes[i]);
    if (one && one != edge_of(target, problem, step)) longer.add_first(*one);
  }
  return {has_rules(target) ? usual_edges(target, problem, device) : std::vector{*edge},
          longer.take()};
}

}  // namespace autotune
