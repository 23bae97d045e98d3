// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/space_builder.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostConfigurations = 100'000'000;
constexpr std::size_t kMostAnswers = std::size_t{1} << 18;  // bytes, of one constraint
constexpr std::size_t kMostAnswersOfAll = std::size_t{1} << 26;
/// Most refused combinations. A constraint counts once for each kUsualText characters.
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

std::vector<std::size_t> listed(const std::vector<bool>& set) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i]) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

SpaceBuilder::SpaceBuilder(const std::vector<Parameter>& parameters, const Ranking& ranking,
                           std::span<const Expression> constraints, const Scope& scope,
                           std::span<const DefineSpec> defines)
    : parameters_(parameters),
      ranking_(ranking),
      names_(parameters, defines, scope),
      levels_(parameters.size()),
      bound_at_(parameters.size()),
      computed_at_(names_.definitions()),
      ranks_(ranking.families()) {
  for (std::uint32_t i = 0; i < names_.definitions(); ++i) {
    definition_parameters_.push_back(listed(names_.parameters_of(names_.definition(i))));
  }
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    constraints_.push_back(bound(format("constraints[{}]", i), constraints[i]));
    constraint_parameters_.push_back(names_.parameters_of(constraints_.back()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& when = parameters[i].when;
    whens_.push_back(when ? std::optional(bound(format("parameters[{}].when", i), *when))
                          : std::nullopt);
    when_parameters_.push_back(when ? names_.parameters_of(*whens_.back())
                                    : ParameterSet(parameters.size()));
  }
  slots_ = names_.initial();
  find_activations();
  make_depths(binding_order());
}

const std::string& SpaceBuilder::text_of(const Step& step) {
  return step.formula.expression().text();
}

Formula SpaceBuilder::bound(const std::string& key, const Expression& expression) {
  try {
    return names_.bind(expression);
  } catch (const Error& error) {
    throw Error(format("{}: {}", key, error.what()));
  }
}

/// The parameters that each `when` depends on, transitively: Warshall's closure.
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

/// Adds the parameters on which the `when` of those in `set` depends.
SpaceBuilder::ParameterSet SpaceBuilder::with_activation(ParameterSet set) const {
  const ParameterSet wanted = set;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) add_to(set, activations_[i]);
  }
  return set;
}

/// Repeatedly binds the parameters of the constraint with the fewest combinations of unbound ones.
/// Unconstrained parameters come last.
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

SpaceBuilder::Step SpaceBuilder::step_of(const std::string& key, const Formula& formula) {
  Step step{key, formula};
  names_.add_to(step.definitions, formula);
  step.parameters = listed(names_.parameters_of(formula));
  remember_answers(step);
  return step;
}

/// Makes room to remember the answers of a step, which recurs with the same values.
void SpaceBuilder::remember_answers(Step& step) {
  std::size_t combinations = 1;
  for (const std::size_t parameter : step.parameters) {
    step.strides.push_back(combinations);
    combinations *= parameters_[parameter].values.size();
    if (combinations > kMostAnswers) return;
  }
  if (answers_ + combinations > kMostAnswersOfAll) return;
  answers_ += combinations;
  step.answers.resize(combinations);
}

void SpaceBuilder::make_depths(const std::vector<std::size_t>& order) {
  ParameterSet bound(parameters_.size());
  std::vector<bool> placed(constraints_.size());
  const auto place_constraints = [&](std::vector<Step>& steps) {
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      if (placed[i] || !within(constraint_parameters_[i], bound)) continue;
      placed[i] = true;
      steps.push_back(step_of(format("constraints[{}]", i), constraints_[i]));
    }
  };
  place_constraints(fixed_);
  for (const std::size_t i : order) {
    Depth depth{i, {}, {}, {}};
    const Parameter& parameter = parameters_[i];
    if (whens_[i]) depth.when = step_of(format("parameters[{}].when", i), *whens_[i]);
    depth.levels.resize(parameter.values.size());
    std::iota(depth.levels.begin(), depth.levels.end(), std::size_t{0});
    bound[i] = true;
    place_constraints(depth.after);
    depths_.push_back(std::move(depth));
  }
}

std::vector<std::vector<std::uint64_t>> SpaceBuilder::build() {
  if (const Step* const refused_by = refusing(fixed_)) {
    why_empty_ = format("\"{}\" is false for every configuration", text_of(*refused_by));
    return std::move(ranks_);
  }
  for (Depth& depth : depths_) filter_levels(depth);
  descend(0);
  if (found_ == 0 && why_empty_.empty() && last_refusal_) {
    why_empty_ = format("\"{}\" excludes all that the others allow", text_of(*last_refusal_));
  }
  for (std::vector<std::uint64_t>& each : ranks_) {
    std::ranges::sort(each);
    each.shrink_to_fit();
  }
  return std::move(ranks_);
}

/// Tests the constraints on a single parameter once for each of its values.
void SpaceBuilder::filter_levels(Depth& depth) {
  const auto later = std::stable_partition(depth.after.begin(), depth.after.end(),
                                           [&](Step& step) { return !is_settled_by(depth, step); });
  std::vector<Step> alone(std::make_move_iterator(later),
                          std::make_move_iterator(depth.after.end()));
  depth.after.erase(later, depth.after.end());
  const Step* refused_by = nullptr;
  std::erase_if(depth.levels, [&](std::size_t level) {
    bind(depth.parameter, level);
    const Step* const refusal = refusing(alone);
    if (refusal) refused_by = refusal;
    return refusal != nullptr;
  });
  if (!depth.levels.empty() || !why_empty_.empty()) return;
  why_empty_ = format("\"{}\" excludes every remaining value of {}", text_of(*refused_by),
                      parameters_[depth.parameter].name);
}

/// Whether a step depends only on the parameter of this depth and can always be evaluated.
bool SpaceBuilder::is_settled_by(const Depth& depth, Step& step) {
  if (step.parameters != std::vector{depth.parameter}) return false;
  return std::ranges::all_of(depth.levels, [&](std::size_t level) {
    bind(depth.parameter, level);
    return answer(step) != Answer::fault;
  });
}

void SpaceBuilder::bind(std::size_t parameter, std::size_t level) {
  slots_.values[parameter] = names_.code(parameter, level);
  levels_[parameter] = static_cast<std::uint16_t>(level);
  bound_at_[parameter] = ++now_;
}

/// The first step that is 0, or nullptr. Later steps are not evaluated.
const SpaceBuilder::Step* SpaceBuilder::refusing(std::vector<Step>& steps) {
  for (Step& step : steps) {
    const Answer found = answer(step);
    if (found == Answer::no) return &step;
    if (found == Answer::fault && !faulty_) faulty_ = &step;
  }
  return nullptr;
}

/// Counts a refused combination. Throws Error if there are too many to finish in reasonable time.
void SpaceBuilder::count_refusal(const Step& step, std::size_t depth) {
  if (depth >= deepest_) {
    deepest_ = depth;
    last_refusal_ = &step;
  }
  const std::string& text = text_of(step);
  effort_ += 1 + text.size() / kUsualText;
  if (effort_ <= kMostEffort) return;
  throw Error(
      format("{}: more than {} combinations are refused one by one, in the end by \"{}\": "
             "constrain fewer parameters at a time, or remove values",
             step.key, kMostEffort, text));
}

SpaceBuilder::Answer SpaceBuilder::answer(Step& step) {
  Answer unkept = Answer::unknown;
  std::size_t at = 0;
  if (!step.answers.empty()) {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      at += levels_[step.parameters[i]] * step.strides[i];
    }
  }
  Answer& answer = step.answers.empty() ? unkept : step.answers[at];
  if (answer == Answer::unknown) {
    compute_definitions(step);
    const auto value = step.formula.value(slots_);
    answer = !value ? Answer::fault : *value != 0 ? Answer::yes : Answer::no;
  }
  return answer;
}

/// Computes the definitions of a step whose parameters were bound since the last computation.
void SpaceBuilder::compute_definitions(const Step& step) {
  for (const std::uint32_t definition : step.definitions) {
    if (is_fresh(definition)) continue;
    names_.compute(slots_, definition);
    computed_at_[definition] = ++now_;
  }
}

bool SpaceBuilder::is_fresh(std::uint32_t definition) const {
  const std::uint64_t computed_at = computed_at_[definition];
  return computed_at > 0 &&
         std::ranges::all_of(definition_parameters_[definition],
                             [&](std::size_t each) { return bound_at_[each] < computed_at; });
}

void SpaceBuilder::descend(std::size_t depth) {
  if (depth == depths_.size()) {
    if (faulty_) fail(*faulty_);
    if (found_ == kMostConfigurations) {
      throw Error(format("more than {} configurations are valid: add constraints or remove values",
                         kMostConfigurations));
    }
    const auto rank = ranking_.rank(levels_);
    if (!rank) return;  // a parameter that the family lacks has a value other than its first
    ranks_[ranking_.family_of(levels_)].push_back(*rank);
    ++found_;
    return;
  }
  Depth& at = depths_[depth];
  const Step* const faulty = faulty_;
  const Answer active = at.when ? answer(*at.when) : Answer::yes;
  if (active == Answer::fault && !faulty_) faulty_ = &*at.when;
  const Step* const faulty_here = faulty_;
  for (const std::size_t level : at.levels) {
    if (active == Answer::no && level > 0) break;
    bind(at.parameter, level);
    if (const Step* const refused_by = refusing(at.after)) {
      count_refusal(*refused_by, depth);
    } else {
      descend(depth + 1);
    }
    faulty_ = faulty_here;
  }
  faulty_ = faulty;
}

/// The values of the failed expression: ` for BM=16 M=512`.
void SpaceBuilder::fail(const Step& step) {
  compute_definitions(step);
  const Formula& failed = names_.culprit(step.formula, slots_);
  std::string values;
  for (const std::string& name : failed.expression().names()) {
    values += format("{}{}={}", values.empty() ? " for " : " ", name, value_text(name));
  }
  throw Error(format("{}: {}{}", step.key, names_.explain(failed, slots_).what(), values));
}

std::string SpaceBuilder::value_text(const std::string& name) const {
  const auto parameter = std::ranges::find(parameters_, name, &Parameter::name);
  if (parameter == parameters_.end()) return std::to_string(names_.value_of(name, slots_));
  return parameter->values[levels_[static_cast<std::size_t>(parameter - parameters_.begin())]]
      .text();
}

}  // namespace autotune
