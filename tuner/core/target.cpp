// SPDX-License-Identifier: Apache-2.0
// A target's problems, spaces and figures.
#include "tuner/core/target.hpp"

#include <algorithm>
#include <set>

#include "tuner/core/target_scope.hpp"
#include "tuner/core/validity.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

/// `choice` is a Setting or a Parameter.
template <class Choice>
void require_value(const Target& target, const Choice& choice, const Value& value) {
  if (std::find(choice.values.begin(), choice.values.end(), value) != choice.values.end()) return;
  std::vector<std::string> values;
  for (const Value& each : choice.values) values.push_back(each.text());
  throw UsageError(format("{}: {}={} is not offered ({})", target.name, choice.name, value.text(),
                          suggestion(value.text(), values)));
}

Value chosen_value(const Target& target, const Setting& setting, const Value& value) {
  require_value(target, setting, value);
  return value;
}

std::size_t shared_values(const Configuration& a, const Configuration& b) {
  std::size_t count = 0;
  for (const NamedValue& each : a) {
    const Value* const other = find_value(b, each.name);
    count += other && *other == each.value;
  }
  return count;
}

}  // namespace

std::string place_of(const Target& target) {
  return target.manifest.empty() ? target.name : target.manifest.string();
}

Problem problem_of(const Target& target, const NamedValues& sizes, const NamedValues& chosen) {
  Problem problem;
  for (const std::string& name : target.sizes) {
    const Value* const size = find_value(sizes, name);
    if (!size) throw UsageError(format("{}: size {} is missing", target.name, name));
    problem.values.push_back({name, *size});
  }
  for (const Setting& setting : target.settings) {
    const Value* const value = find_value(chosen, setting.name);
    problem.values.push_back(
        {setting.name, value ? chosen_value(target, setting, *value) : setting.values.front()});
  }
  for (const NamedValue& each : chosen) {
    const std::vector<std::string> settings = names_of(target.settings);
    if (std::find(settings.begin(), settings.end(), each.name) != settings.end()) continue;
    throw UsageError(format("{} has no setting {} ({})", target.name, each.name,
                            suggestion(each.name, settings)));
  }
  return problem;
}

std::string problem_text(const Target& target, const Problem& problem) {
  NamedValues told = problem.values;
  std::erase_if(told, [&](const NamedValue& each) {
    const auto setting = std::ranges::find(target.settings, each.name, &Setting::name);
    return setting != target.settings.end() && setting->values.front() == each.value;
  });
  return to_text(told);
}

Target with_fixed(Target target, const NamedValues& fixed) {
  std::set<std::string> held;
  for (const NamedValue& each : fixed) {
    const auto parameter =
        std::find_if(target.parameters.begin(), target.parameters.end(),
                     [&](const Parameter& one) { return one.name == each.name; });
    if (parameter == target.parameters.end()) {
      throw UsageError(format("{} has no parameter {} ({})", target.name, each.name,
                              suggestion(each.name, names_of(target.parameters))));
    }
    require_value(target, *parameter, each.value);
    if (!held.insert(each.name).second) {
      throw UsageError(format("{}: {} is fixed twice: give it one value", target.name, each.name));
    }
    if (parameter->when) target.constraints.push_back(*parameter->when);
    const std::string value =
        each.value.is_word() ? format("'{}'", each.value.word()) : each.value.text();
    target.constraints.push_back(Expression::parse(format("{} == {}", each.name, value)));
  }
  return target;
}

Scope scope_of(const Problem& problem, const DeviceInfo& device) {
  Scope scope;
  bind_device(scope, device);
  scope.bind(problem.values);
  for (const NamedValue& each : problem.values) {
    if (!each.value.is_word()) continue;
    const auto type = element_type(each.value.word());
    if (type) scope.bind(each.name + "_bytes", bytes_of(*type));
  }
  return scope;
}

Scope scope_of(const Target& target, const Problem& problem, const Configuration& configuration,
               const DeviceInfo& device) {
  return TargetScope(target, problem, device, &configuration).scope();
}

ParameterSpace space_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  try {
    return ParameterSpace(target.parameters, target.constraints, scope_of(problem, device),
                          target.defines);
  } catch (const Error& error) {
    throw Error(format("{}: {}", place_of(target), error.what()));
  }
}

bool is_valid(const Target& target, const Problem& problem, const Configuration& configuration,
              const DeviceInfo& device) {
  const auto levels = levels_of(target.parameters, configuration);
  return levels && Validity(target, problem, device)(*levels);
}

std::size_t default_index(const Target& target, const ParameterSpace& space) {
  if (space.empty()) {
    throw Error(
        format("{}: no configuration is valid for this problem on this device: relax the "
               "constraints, add values or fix fewer",
               place_of(target)));
  }
  if (const auto index = space.find(target.default_configuration)) return *index;
  std::size_t best = 0, most = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const std::size_t shared = shared_values(space.at(i), target.default_configuration);
    if (shared > most) {
      best = i;
      most = shared;
    }
  }
  return best;
}

NamedValues active_values(const Target& target, const Problem& problem,
                          const Configuration& configuration, const DeviceInfo& device) try {
  const Scope scope = scope_of(target, problem, configuration, device);
  NamedValues active;
  for (const Parameter& parameter : target.parameters) {
    const Value* value = find_value(configuration, parameter.name);
    if (value && (!parameter.when || scope.evaluate(*parameter.when) != 0)) {
      active.push_back({parameter.name, *value});
    }
  }
  return active;
} catch (const Error&) {
  return configuration;
}

std::string configuration_text(const Target& target, const Problem& problem,
                               const Configuration& configuration, const DeviceInfo& device) {
  return to_text(active_values(target, problem, configuration, device));
}

std::string configuration_text(const Target& target, const Problem& problem,
                               std::string_view stored, const DeviceInfo& device) try {
  return configuration_text(target, problem, parse_named_values(stored), device);
} catch (const Error&) {
  return std::string(stored);
}

Work work_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  const TargetScope scope(target, problem, device);
  const auto figure = [&](const char* key, const std::optional<Expression>& expression) {
    return expression ? static_cast<double>(scope.at_least(0, key, *expression)) : 0.0;
  };
  return {figure("work.flops", target.flops), figure("work.bytes", target.bytes)};
}

TargetScope::TargetScope(const Target& target, const Problem& problem, const DeviceInfo& device,
                         const Configuration* configuration)
    : target_(target),
      device_(device),
      values_(problem.values),
      scope_(autotune::scope_of(problem, device)) {
  if (configuration) {
    values_.insert(values_.end(), configuration->begin(), configuration->end());
    scope_.bind(*configuration);
  }
  for (const DefineSpec& define : target.defines) {
    const std::vector<std::string>& names = define.value.names();
    const bool bound = std::all_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return scope_.contains(name); });
    // Without a configuration, what hangs on parameters stays unbound.
    if (bound || configuration) {
      scope_.bind(define.name, evaluate("defines." + define.name, define.value));
    }
  }
}

std::int64_t TargetScope::evaluate(const std::string& key, const Expression& expression) const {
  try {
    return scope_.evaluate(expression);
  } catch (const Error& error) {
    fail(key, error.what());
  }
}

std::int64_t TargetScope::at_least(std::int64_t least, const std::string& key,
                                   const Expression& expression) const {
  const std::int64_t value = evaluate(key, expression);
  if (value < least) {
    fail(key, format("\"{}\" is {}, it must be {} or more", expression.text(), value, least));
  }
  return value;
}

bool TargetScope::holds(const std::string& key, const std::optional<Expression>& condition) const {
  return !condition || evaluate(key, *condition) != 0;
}

ElementType TargetScope::type(const std::string& key, const std::string& name) const {
  const Value* const setting = find(name);
  const auto type = element_type(setting ? setting->text() : name);
  if (!type) fail(key, format("{} is no element type (f32, f64, i32, i64)", name));
  return *type;
}

const Value* TargetScope::find(const std::string& name) const { return find_value(values_, name); }

void TargetScope::fail(const std::string& key, const std::string& what) const {
  throw Error(format("{}: {}: {} (for {})", place_of(target_), key, what, to_text(values_)));
}

}  // namespace autotune
