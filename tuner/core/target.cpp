// SPDX-License-Identifier: Apache-2.0
// A target's problems, spaces and figures.
#include "tuner/core/target.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "tuner/core/near_problem.hpp"
#include "tuner/core/target_program.hpp"
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

/// The value of `choice`, a Setting or Parameter, that the user means. Throws UsageError.
template <class Choice>
Value chosen_value(const Target& target, const Choice& choice, const Value& value) {
  if (const Value* const meant = meant_value(choice.values, value)) return *meant;
  std::vector<std::string> values;
  for (const Value& each : choice.values) values.push_back(each.text());
  // Only a word may be misspelt: 3 is not meant for 1.
  const std::string instead =
      value.is_word() ? suggestion(value.text(), values) : "there are: " + joined(values, ", ");
  throw UsageError(
      format("{}: {}={} is not offered ({})", target.name, choice.name, value.text(), instead));
}

std::size_t shared_levels(const Levels& a, const Levels& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i];
  return count;
}

}  // namespace

Value default_value(const Setting& setting, const NamedValues& before) {
  if (!setting.if_absent) return setting.values.front();
  Scope scope;
  scope.bind(before);
  const std::int64_t code = scope.evaluate(*setting.if_absent);
  const auto value = std::ranges::find(setting.values, code, &Value::code);
  if (value != setting.values.end()) return *value;
  throw Error(format("with {}, {} gives no value of {}", to_text(before), setting.if_absent->text(),
                     setting.name));
}

bool is_default(const Setting& setting, const Value& value, const NamedValues& values) try {
  return default_value(setting, values) == value;
} catch (const Error&) {
  return false;
}

namespace {

/// The i-th setting with another value, and defaults of what has its default.
NamedValues with_setting(const Target& target, const NamedValues& settings, std::size_t i,
                         const Value& value) {
  NamedValues told;
  for (std::size_t j = 0; j < settings.size(); ++j) {
    if (j == i) told.push_back({settings[j].name, value});
    if (j != i && !is_default(target.settings[j], settings[j].value, settings)) {
      told.push_back(settings[j]);
    }
  }
  return all_settings(target, told);
}

}  // namespace

NamedValues all_settings(const Target& target, const NamedValues& given) {
  const Problem problem = problem_from(target, 1, given);
  return {problem.values.end() - static_cast<std::ptrdiff_t>(target.settings.size()),
          problem.values.end()};
}

NamedValues plain_settings(const Target& target, const NamedValues& settings) {
  NamedValues told;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const Setting& setting = target.settings[i];
    const Value& value = settings[i].value;
    const Value usual = default_value(setting, settings);
    const auto is_alike = [&](const Value& one) {
      return std::ranges::find(setting.alike, one) != setting.alike.end();
    };
    const bool is_type = value.is_word() && element_type(value.text());
    const bool is_plain = value == usual || (!is_type && is_alike(value) && is_alike(usual));
    if (!is_plain) told.push_back(settings[i]);
  }
  return all_settings(target, told);
}

std::vector<NamedValues> alike_settings(const Target& target, const NamedValues& settings) {
  std::vector<NamedValues> all{settings};
  for (std::size_t i = 0; i < target.settings.size(); ++i) {
    const std::vector<Value>& alike = target.settings[i].alike;
    if (std::ranges::find(alike, settings[i].value) == alike.end()) continue;
    for (std::size_t k = 0, before = all.size(); k < before; ++k) {
      for (const Value& other : alike) {
        if (other != all[k][i].value) all.push_back(with_setting(target, all[k], i, other));
      }
    }
  }
  all.erase(all.begin());
  return all;
}

std::string short_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string place_of(const Target& target) {
  return target.manifest.empty() ? target.name : target.manifest.string();
}

SizeRule size_rule(const Target& target, std::size_t i) {
  return target.size_rules.empty() ? SizeRule{} : target.size_rules[i];
}

std::size_t needed_sizes(const Target& target) {
  const auto may_be_absent = std::ranges::find_if(
      target.size_rules, [](const SizeRule& rule) { return rule.if_absent.has_value(); });
  return may_be_absent == target.size_rules.end()
             ? target.sizes.size()
             : static_cast<std::size_t>(may_be_absent - target.size_rules.begin());
}

std::vector<std::int64_t> all_sizes(const Target& target, std::span<const std::int64_t> given) {
  std::vector<std::int64_t> sizes(given.begin(), given.end());
  const std::size_t needed = needed_sizes(target);
  if (sizes.size() < needed) return sizes;
  sizes.resize(std::max(sizes.size(), target.sizes.size()), kDefaultSize);
  for (std::size_t i = needed; i < target.sizes.size(); ++i) {
    if (sizes[i] == kDefaultSize) sizes[i] = *target.size_rules[i].if_absent;
  }
  return sizes;
}

void check_size(const Target& target, std::size_t i, std::int64_t size) {
  const std::string& name = target.sizes[i];
  const SizeRule rule = size_rule(target, i);
  const auto refuse = [&](const std::string& why) {
    throw UsageError(format("{}: the size {}={} is not offered: {}", target.name, name, size, why));
  };
  if (rule.fixed && size != *rule.fixed) {
    refuse(
        format("it is always {}; give sizes by name, as in {}={}", *rule.fixed, name, *rule.fixed));
  }
  if (size % rule.multiple != 0) refuse(format("it is a multiple of {}", rule.multiple));
  if (size < rule.least) refuse(format("the least is {}", rule.least));
}

std::int64_t size_from(const Target& target, std::size_t i, std::int64_t least) {
  const SizeRule rule = size_rule(target, i);
  const std::int64_t from = std::max(least, rule.least);
  return rule.fixed.value_or((from + rule.multiple - 1) / rule.multiple * rule.multiple);
}

Problem problem_from(const Target& target, std::int64_t least, const NamedValues& settings) {
  NamedValues sizes;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    sizes.push_back({target.sizes[i], size_from(target, i, least)});
  }
  return problem_of(target, sizes, settings);
}

Problem problem_of(const Target& target, const NamedValues& sizes, const NamedValues& chosen) {
  Problem problem;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    const std::string& name = target.sizes[i];
    const SizeRule rule = size_rule(target, i);
    const Value* const given = find_value(sizes, name);
    if (!given && !rule.if_absent) {
      throw UsageError(format("{}: size {} is missing", target.name, name));
    }
    const Value size = given ? *given : Value(*rule.if_absent);
    check_size(target, i, size.integer());
    problem.values.push_back({name, size});
  }
  for (const Setting& setting : target.settings) {
    const Value* const value = find_value(chosen, setting.name);
    problem.values.push_back({setting.name, value ? chosen_value(target, setting, *value)
                                                  : default_value(setting, problem.values)});
  }
  for (const NamedValue& each : chosen) {
    const std::vector<std::string> settings = names_of(target.settings);
    if (std::find(settings.begin(), settings.end(), each.name) != settings.end()) continue;
    if (std::ranges::find(target.sizes, each.name) != target.sizes.end()) {
      throw UsageError(
          format("{0} is a size of {1}, not a setting: give it with the sizes, as in "
                 "{0}={2}",
                 each.name, target.name, each.value.text()));
    }
    throw UsageError(format("{} has no setting {} ({})", target.name, each.name,
                            suggestion(each.name, settings)));
  }
  return problem;
}

std::vector<std::string> size_names(const Target& target) {
  std::vector<std::string> names = target.sizes;
  for (const FreeSize& each : target.free_sizes) names.push_back(each.name);
  return names;
}

std::vector<std::int64_t> sizes_of(const Target& target, const Problem& problem) {
  std::vector<std::int64_t> sizes;
  for (const std::string& name : target.sizes) {
    const Value* const size = find_value(problem.values, name);
    if (!size || !size->is_integer()) {
      throw Error(format("{}: the problem {} has no size {}: tune it again", target.name,
                         problem.text(), name));
    }
    sizes.push_back(size->integer());
  }
  return sizes;
}

std::string problem_text(const Target& target, const Problem& problem) {
  NamedValues told = problem.values;
  std::erase_if(told, [&](const NamedValue& each) {
    const auto setting = std::ranges::find(target.settings, each.name, &Setting::name);
    return setting != target.settings.end() && is_default(*setting, each.value, problem.values);
  });
  told.insert(told.end(), problem.free.begin(), problem.free.end());
  return to_text(told);
}

const Parameter& parameter_called(const Target& target, const std::string& name) {
  const auto found = std::ranges::find(target.parameters, name, &Parameter::name);
  if (found != target.parameters.end()) return *found;
  throw UsageError(format("{} has no parameter {} ({})", target.name, name,
                          suggestion(name, names_of(target.parameters))));
}

Target with_fixed(Target target, const NamedValues& fixed) {
  std::set<std::string> held;
  for (const NamedValue& each : fixed) {
    const Parameter& parameter = parameter_called(target, each.name);
    const Value value = chosen_value(target, parameter, each.value);
    if (!held.insert(each.name).second) {
      throw UsageError(format("{}: {} is fixed twice: give it one value", target.name, each.name));
    }
    if (parameter.when) {
      target.constraints.push_back(parameter.when->called(format("{} is used", each.name)));
    }
    target.constraints.push_back(
        condition_on(parameter, format("{} == {}", each.name, value.literal())));
  }
  return target;
}

Target for_speed(Target target, const NamedValues& fixed) {
  target = with_fixed(std::move(target), fixed);
  for (const Parameter& each : target.parameters) {
    if (!each.for_bits || find_value(fixed, each.name)) continue;
    target.constraints.push_back(
        condition_on(each, format("{} == {}", each.name, each.values.front().literal())));
  }
  return target;
}

Scope scope_of(const Problem& problem, const DeviceInfo& device) {
  Scope scope;
  bind_device(scope, device);
  scope.bind(problem.values);
  scope.bind(problem.free);
  for (const NamedValue& each : problem.values) {
    if (!each.value.is_word()) continue;
    const auto type = element_type(each.value.word());
    if (type) scope.bind(each.name + "_bytes", bytes_of(*type));
  }
  return scope;
}

namespace {

/// Compute capabilities that added instructions.
constexpr std::array kCapabilities{50, 60, 70, 75, 80, 89, 90, 100, 120};

std::string capability_text(int capability) {
  return format("{}.{}", capability / 10, capability % 10);
}

bool has_configurations(const Target& target, const Problem& problem, DeviceInfo device,
                        int capability) {
  device.compute_capability = capability;
  try {
    return !ParameterSpace(target.parameters, target.constraints, scope_of(problem, device),
                           target.defines, target.family)
                .empty();
  } catch (const Error&) {
    return false;
  }
}

/// The compute capabilities for which configurations are valid: `8.0 or later`, `7.0 or 9.0`. Empty
/// if constraints do not depend on it.
std::string needed_capability(const Target& target, const Problem& problem,
                              const DeviceInfo& device) {
  const auto asks = [](const Expression& each) {
    return std::ranges::find(each.names(), "device.compute_capability") != each.names().end();
  };
  if (device.compute_capability == 0 || std::ranges::none_of(target.constraints, asks)) return "";
  std::vector<std::string> enough;
  bool has_gap = false;
  for (const int capability : kCapabilities) {
    if (has_configurations(target, problem, device, capability)) {
      enough.push_back(capability_text(capability));
    } else {
      has_gap = has_gap || !enough.empty();
    }
  }
  if (enough.size() > 1 && !has_gap) return enough.front() + " or later";
  return joined(enough, " or ");
}

}  // namespace

ParameterSpace space_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  require_offered(target, problem, device);
  try {
    ParameterSpace space(target.parameters, target.constraints, scope_of(problem, device),
                         target.defines, target.family);
    if (!space.empty()) return space;
    if (const std::string needed = needed_capability(target, problem, device); !needed.empty()) {
      space.explain_empty(format("it needs compute capability {}, and {} has {}", needed,
                                 device.name, capability_text(device.compute_capability)),
                          "choose another device");
    } else if (const auto near = near_problem(target, problem, device); near && *near != problem) {
      space.explain_empty(
          format("{}, at {}", space.why_empty(), problem_text(target, problem)),
          format("try --sizes {}, or {}", size_text(target, *near), space.remedy()));
    }
    return space;
  } catch (const Error& error) {
    throw Error(format("{}: {}", place_of(target), error.what()));
  }
}

bool has_rules(const Target& target) {
  return !target.free_sizes.empty() || !target.rules.empty() || !target.sized_defaults.empty();
}

void require_offered(const Target& target, const Problem& problem, const DeviceInfo& device) {
  if (!has_rules(target)) return;
  const std::string refusal = TargetProgram(target, problem, device).refusal();
  if (!refusal.empty()) throw UsageError(refusal);
}

bool is_valid(const Target& target, const Problem& problem, const Configuration& configuration,
              const DeviceInfo& device) {
  const auto levels = levels_of(target.parameters, configuration);
  return levels && TargetProgram(target, problem, device).is_valid(*levels);
}

std::string why_refused(const Target& target, const ParameterSpace& space) {
  if (!space.empty()) return "";
  return format("{}: no configuration is valid for this problem on this device: {}; {}",
                place_of(target), space.why_empty(), space.remedy());
}

std::size_t default_index(const Target& target, const std::vector<Levels>& defaults,
                          const ParameterSpace& space) {
  if (space.empty()) throw NoConfiguration(why_refused(target, space));
  return *default_index_without(defaults, space, {});
}

std::optional<std::size_t> default_index_without(const std::vector<Levels>& defaults,
                                                 const ParameterSpace& space,
                                                 std::span<const Configuration> excluded) {
  const auto is_excluded = [&](std::size_t index) {
    return !excluded.empty() && std::ranges::find(excluded, space.at(index)) != excluded.end();
  };
  for (const Levels& each : defaults) {
    const auto index = space.find(each);
    if (index && !is_excluded(*index)) return index;
  }
  std::optional<std::size_t> best;
  std::size_t most = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Levels levels = space.levels(i);
    std::size_t shared = 0;
    for (const Levels& each : defaults) {
      shared = std::max(shared, shared_levels(levels, each));
    }
    if ((best && shared <= most) || is_excluded(i)) continue;
    best = i;
    most = shared;
  }
  return best;
}

NamedValues active_values(const Target& target, const Problem& problem,
                          const Configuration& configuration, const DeviceInfo& device) try {
  const TargetProgram program(target, problem, device);
  const std::vector<bool> active = program.active(program.levels(configuration));
  NamedValues values;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const std::string& name = target.parameters[i].name;
    if (active[i]) values.push_back({name, *find_value(configuration, name)});
  }
  return values;
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
  return TargetProgram(target, problem, device).work();
}

SourceUnit source_unit(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device) {
  const TargetProgram program(target, problem, device);
  return program.source_unit(program.levels(configuration));
}

std::vector<Command> commands_of(const Target& target, const Problem& problem,
                                 const Configuration& configuration, const DeviceInfo& device) {
  if (!target.build) return {};
  const TargetProgram program(target, problem, device);
  const Levels levels = program.levels(configuration);
  std::vector<Command> commands;
  if (!target.build->empty()) commands.push_back(*program.source_unit(levels).build);
  for (const Launch& launch : program.plan(levels).launches) commands.push_back(*launch.command);
  return commands;
}

void require_kernels(const Target& target, std::string_view what) {
  if (!target.build) return;
  throw Error(
      format("{}: it is a program, and {} launches kernels only: autotune query gives its "
             "values, autotune db export --format source its commands",
             place_of(target), what));
}

LaunchPlan launch_plan(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device) {
  const TargetProgram program(target, problem, device);
  return program.plan(program.levels(configuration));
}

std::vector<BufferSpec> buffers_of(const Target& target, const Problem& problem,
                                   const DeviceInfo& device) {
  return TargetProgram(target, problem, device).buffers();
}

std::vector<Scalar> scalars_of(const Target& target, const Problem& problem,
                               const DeviceInfo& device) {
  return TargetProgram(target, problem, device).scalars();
}

}  // namespace autotune
