// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/space_builder.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostConfigurations = 100'000'000;
constexpr std::size_t kMostAnswers = std::size_t{1} << 18;  // bytes, of one constraint
constexpr std::size_t kMostAnswersOfAll = std::size_t{1} << 26;
/// Combinations that are refused, where each by so much text of a constraint.
constexpr std::size_t kMostEffort = 50'000'000, kUsualText = 100;

bool within(const std::vector<bool>& set, const std::vector<bool>& whole) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i] && !whole[i]) return false;
  }
  return true;
}

void add_to(std::vector<bool>& set, const std::vector<bool>& more) {
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = set[i] || more[i];
}

}  // namespace

SpaceBuilder::SpaceBuilder(const std::vector<Parameter>& parameters,
                           std::span<const Expression> constraints, const Scope& scope,
                           std::span<const DefineSpec> defines)
    : parameters_(parameters),
      constraints_(constraints),
      scope_(scope),
      defines_(defines),
      define_placed_(defines.size()),
      slots_(parameters.size() + defines.size()),
      levels_(parameters.size()) {
  for (std::size_t i = 0; i < parameters.size(); ++i) slot_of_[parameters[i].name] = i;
  for (const DefineSpec& define : defines_) {
    define_parameters_.push_back(parameters_of(define.value));
    slot_of_[define.name] = parameters.size() + define_parameters_.size() - 1;
  }
  for (const Expression& constraint : constraints) {
    constraint_parameters_.push_back(parameters_of(constraint));
  }
  for (const Parameter& parameter : parameters) {
    when_parameters_.push_back(parameter.when ? parameters_of(*parameter.when)
                                              : ParameterSet(parameters.size()));
  }
  find_activations();
  make_depths(binding_order());
}

/// The parameters that an expression names, itself or through defines.
SpaceBuilder::ParameterSet SpaceBuilder::parameters_of(const Expression& expression) const {
  ParameterSet set(parameters_.size());
  for (const std::string& name : expression.names()) {
    const auto slot = slot_of_.find(name);
    if (slot == slot_of_.end()) continue;
    if (slot->second < parameters_.size()) {
      set[slot->second] = true;
    } else {
      add_to(set, define_parameters_[slot->second - parameters_.size()]);
    }
  }
  return set;
}

/// Those in a parameter's `when`, in the `when` of those, and so on: Warshall's closure.
void SpaceBuilder::find_activations() {
  activations_ = when_parameters_;
  for (std::size_t via = 0; via < parameters_.size(); ++via) {
    for (ParameterSet& set : activations_) {
      if (set[via]) add_to(set, activations_[via]);
    }
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!activations_[i][i]) continue;
    throw Error(format("parameters[{}].when: {} depends on itself", i, parameters_[i].name));
  }
}

/// Adds the parameters that must be bound before those of `set`.
SpaceBuilder::ParameterSet SpaceBuilder::with_activation(ParameterSet set) const {
  const ParameterSet wanted = set;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) add_to(set, activations_[i]);
  }
  return set;
}

/// Takes the constraint with the fewest combinations of parameters that are not bound yet, binds
/// those, and goes on; parameters under no constraint come last.
std::vector<std::size_t> SpaceBuilder::binding_order() const {
  std::vector<ParameterSet> groups;
  for (const ParameterSet& set : constraint_parameters_) {
    ParameterSet group = with_activation(set);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) {
      groups.push_back(std::move(group));
    }
  }
  std::vector<std::size_t> order;
  ParameterSet bound(parameters_.size());
  const auto bind = [&](const ParameterSet& set) {
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (!set[i] || bound[i] || !within(when_parameters_[i], bound)) continue;
        bound[i] = again = true;
        order.push_back(i);
      }
    }
  };
  const auto combinations = [&](const ParameterSet& set) {
    double product = 1;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i] && !bound[i]) product *= static_cast<double>(parameters_[i].values.size());
    }
    return product;
  };
  while (!groups.empty()) {
    const auto tightest = std::min_element(
        groups.begin(), groups.end(),
        [&](const auto& a, const auto& b) { return combinations(a) < combinations(b); });
    bind(*tightest);
    groups.erase(tightest);
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    ParameterSet alone(parameters_.size());
    alone[i] = true;
    bind(with_activation(alone));
  }
  return order;
}

/// Appends a step, after those of the defines that it names and that are not evaluated yet.
void SpaceBuilder::place(std::vector<Step>& steps, Step::Kind kind, const std::string& key,
                         const Expression& expression, std::size_t slot) {
  Step step{kind, key, expression, {}, {}, slot, {}, {}};
  for (const std::string& name : expression.names()) {
    const auto found = slot_of_.find(name);
    if (found == slot_of_.end()) {
      try {
        step.values.push_back(scope_[name]);
      } catch (const Error& error) {
        throw Error(format("{}: {}", key, error.what()));
      }
      continue;
    }
    step.sources.push_back({step.values.size(), found->second});
    step.values.push_back(0);
    if (found->second < parameters_.size()) continue;
    const std::size_t define = found->second - parameters_.size();
    if (define_placed_[define]) continue;
    define_placed_[define] = true;
    place(steps, Step::Kind::define, "defines." + name, defines_[define].value, found->second);
  }
  if (kind == Step::Kind::constraint) remember_answers(step);
  steps.push_back(std::move(step));
}

/// Makes room for the answers of a constraint, which is met again and again with the same values.
void SpaceBuilder::remember_answers(Step& step) {
  std::size_t combinations = 1;
  for (const auto& source : step.sources) {
    if (source.slot >= parameters_.size()) return;  // a define
    step.strides.push_back(combinations);
    combinations *= parameters_[source.slot].values.size();
    if (combinations > kMostAnswers) return;
  }
  if (answers_ + combinations > kMostAnswersOfAll) return;
  answers_ += combinations;
  step.answers.resize(combinations);
}

void SpaceBuilder::make_depths(const std::vector<std::size_t>& order) {
  std::vector<std::uint64_t> weights(parameters_.size(), 1);
  for (std::size_t i = parameters_.size(); i-- > 1;) {
    weights[i - 1] = weights[i] * parameters_[i].values.size();
  }
  ParameterSet bound(parameters_.size());
  std::vector<bool> placed(constraints_.size());
  const auto place_constraints = [&](std::vector<Step>& steps) {
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      if (placed[i] || !within(constraint_parameters_[i], bound)) continue;
      placed[i] = true;
      place(steps, Step::Kind::constraint, format("constraints[{}]", i), constraints_[i]);
    }
  };
  place_constraints(fixed_);
  for (const std::size_t i : order) {
    Depth depth{i, weights[i], {}, {}, {}};
    const Parameter& parameter = parameters_[i];
    if (parameter.when) {
      place(depth.before, Step::Kind::when, format("parameters[{}].when", i), *parameter.when);
    }
    for (std::size_t level = 0; level < parameter.values.size(); ++level) {
      depth.levels.push_back({level, parameter.values[level].code()});
    }
    bound[i] = true;
    place_constraints(depth.after);
    depths_.push_back(std::move(depth));
  }
}

std::vector<std::uint64_t> SpaceBuilder::build() {
  if (!passes(fixed_)) return {};
  for (Depth& depth : depths_) filter_levels(depth, depth.after);
  descend(0, 0);
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.shrink_to_fit();
  return std::move(ranks_);
}

/// Tests the constraints that hang on one parameter alone once for each of its values.
void SpaceBuilder::filter_levels(Depth& depth, std::vector<Step>& steps) {
  const auto alone = [&](const Step& step) {
    return step.kind == Step::Kind::constraint &&
           std::all_of(step.sources.begin(), step.sources.end(),
                       [&](const auto& source) { return source.slot == depth.parameter; });
  };
  std::vector<Step> unary;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(unary), alone);
  std::erase_if(steps, alone);
  std::erase_if(depth.levels, [&](const Depth::Level& level) {
    slots_[depth.parameter] = level.code;
    levels_[depth.parameter] = level.number;
    return !passes(unary);
  });
}

/// Evaluates steps in order, up to the first constraint or `when` that is 0: that one, or nullptr.
const SpaceBuilder::Step* SpaceBuilder::refusing(std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (step.kind == Step::Kind::define) {
      slots_[step.slot] = value_of(step);
    } else if (!holds(step)) {
      return &step;
    }
  }
  return nullptr;
}

/// Throws Error when so many were refused that the end would not be waited for.
void SpaceBuilder::count_refusal(const Step& step) {
  effort_ += 1 + step.expression.text().size() / kUsualText;
  if (effort_ <= kMostEffort) return;
  throw Error(
      format("{}: more than {} combinations are refused one by one, in the end by \"{}\": "
             "constrain fewer parameters at a time, or remove values",
             step.key, kMostEffort, step.expression.text()));
}

bool SpaceBuilder::holds(Step& step) {
  if (step.answers.empty()) return value_of(step) != 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    at += levels_[step.sources[i].slot] * step.strides[i];
  }
  Answer& answer = step.answers[at];
  if (answer == Answer::unknown) answer = value_of(step) != 0 ? Answer::yes : Answer::no;
  return answer == Answer::yes;
}

std::int64_t SpaceBuilder::value_of(Step& step) {
  for (const auto& source : step.sources) step.values[source.value] = slots_[source.slot];
  try {
    return step.expression.evaluate(step.values);
  } catch (const ExpressionError& error) {
    throw Error(format("{}: {}{}", step.key, error.what(), bindings(step)));
  }
}

void SpaceBuilder::descend(std::size_t depth, std::uint64_t rank) {
  if (depth == depths_.size()) {
    if (ranks_.size() == kMostConfigurations) {
      throw Error(format("more than {} configurations are valid: add constraints or remove values",
                         kMostConfigurations));
    }
    ranks_.push_back(rank);
    return;
  }
  Depth& at = depths_[depth];
  const bool active = passes(at.before);
  for (const Depth::Level& level : at.levels) {
    if (!active && level.number > 0) break;
    slots_[at.parameter] = level.code;
    levels_[at.parameter] = level.number;
    const Step* const refused_by = refusing(at.after);
    if (refused_by) {
      count_refusal(*refused_by);
    } else {
      descend(depth + 1, rank + level.number * at.weight);
    }
  }
}

/// ` for BM=16 M=512`: the values that a step saw.
std::string SpaceBuilder::bindings(const Step& step) const {
  std::string text;
  const std::vector<std::string>& names = step.expression.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += format("{}{}={}", i == 0 ? " for " : " ", names[i], step.values[i]);
  }
  return text;
}

}  // namespace autotune
