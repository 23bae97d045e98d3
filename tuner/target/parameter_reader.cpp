// SPDX-License-Identifier: Apache-2.0
// Reads the parameters of a target and merges the declarations of its families.
#include <algorithm>
#include <set>

#include "tuner/target/declared_parameters.hpp"
#include "tuner/target/value_reader.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// The values of one parameter in all families, ascending if those of each family are.
std::vector<Value> united(const std::vector<const Declared*>& uses) {
  if (uses.size() == 1) return uses.front()->values;
  std::vector<Value> all;
  std::set<Value> known;
  bool rising = true;
  for (const Declared* const use : uses) {
    const Value &mine = use->values.front(), &others = uses.front()->values.front();
    if (std::string_view(kind_of(mine)) != kind_of(others)) {
      use->place.fail(format("{} has {}s in one family and {}s in another", use->name,
                             kind_of(others), kind_of(mine)));
    }
    rising = rising && std::ranges::is_sorted(use->values);
    for (const Value& value : use->values) {
      if (known.insert(value).second) all.push_back(value);
    }
  }
  if (rising && !all.front().is_word()) std::ranges::sort(all);
  return all;
}

std::string list_text(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) {
    text += format("{}{}", text.empty() ? "" : ", ", value.literal());
  }
  return text;
}

/// Adds the levels of the parameter's values in the family that declares it.
void add_levels(Parameter& parameter, const Declared& use, const Reading& reading) {
  if (use.scope->name.empty()) return;
  parameter.family_levels.resize(reading.scopes.size() - 1);
  const auto family = static_cast<std::size_t>(use.scope - &reading.scopes[1]);
  std::vector<std::uint16_t>& levels = parameter.family_levels[family];
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    if (std::ranges::find(use.values, parameter.values[i]) == use.values.end()) continue;
    levels.push_back(static_cast<std::uint16_t>(i));
  }
}

Parameter merged(Reading& reading, Target& target, const std::vector<const Declared*>& uses) {
  Parameter parameter{
      uses.front()->name, united(uses), {}, uses.front()->run_time, {}, uses.front()->form, {}};
  for (const Declared* const use : uses) {
    if (use->run_time != parameter.run_time) {
      use->place.fail(format("{} is run_time in one family only", use->name));
    }
    if (use->form != parameter.form) {
      use->place.fail(format("\"as\" of {} differs between families", use->name));
    }
    for (const auto& [word, text] : use->texts) {
      const auto known = parameter.texts.emplace(word, text).first;
      if (known->second != text) use->place.fail(format("{} is {} in another family", word, text));
    }
    add_levels(parameter, *use, reading);
    if (use->values == parameter.values) continue;
    const Expression own =
        condition_on(parameter, format("{} in [{}]", use->name, list_text(use->values)));
    target.constraints.push_back(reading.guarded(*use->scope, own, 1));
  }
  return parameter;
}

/// The size of a parameter's element type in bytes, as an expression of the parameter.
Expression bytes_of(const Parameter& parameter) {
  Expression bytes = Expression::constant(0);
  for (const Value& value : parameter.values) {
    bytes = Expression::choice(
        condition_on(parameter, format("{} == {}", parameter.name, value.literal())),
        Expression::constant(autotune::bytes_of(*element_type(value.word()))), bytes);
  }
  return bytes;
}

/// When a parameter has a meaning: in its families, if the `when` of that family holds.
std::optional<Expression> when_of(Reading& reading, const std::vector<const Declared*>& uses) {
  std::optional<Expression> all;
  for (auto each = uses.rbegin(); each != uses.rend(); ++each) {
    const Declared& use = **each;
    Expression own = Expression::constant(1);
    if (use.when) own = reading.names.integer(*use.when, NameLevel::configuration, use.scope->name);
    if (!use.scope->guard) return use.when ? std::optional(own) : std::nullopt;
    all = Expression::choice(*use.scope->guard, own, all.value_or(Expression::constant(0)));
  }
  return all;
}

/// When the source has the parameter's macro: in its families.
std::optional<Expression> macro_when_of(const std::vector<const Declared*>& uses) {
  std::optional<Expression> all;
  for (const Declared* const use : uses) {
    if (!use->scope->guard) return std::nullopt;
    all = Expression::choice(*use->scope->guard, Expression::constant(1),
                             all.value_or(Expression::constant(0)));
  }
  return all;
}

/// Declarations grouped by name, in the order of their first occurrence.
std::vector<std::vector<const Declared*>> by_name(const std::vector<Declared>& all) {
  std::vector<std::vector<const Declared*>> groups;
  for (const Declared& each : all) {
    const auto group = std::ranges::find_if(
        groups, [&](const auto& known) { return known.front()->name == each.name; });
    if (group != groups.end()) {
      group->push_back(&each);
    } else {
      groups.push_back({&each});
    }
  }
  return groups;
}

}  // namespace

void read_parameters(Reading& reading, Target& target) {
  if (!reading.family_parameter.empty()) {
    std::vector<Value> families;
    for (std::size_t i = 1; i < reading.scopes.size(); ++i) {
      families.emplace_back(reading.scopes[i].name);
    }
    const Node* const place = reading.root.find("family");
    reading.names.declare(place ? *place : reading.root["families"], reading.family_parameter,
                          NameLevel::configuration, families);
    target.family = target.parameters.size();
    target.parameters.push_back({reading.family_parameter, families, {}, false});
  }
  const std::vector<Declared> all = declared_parameters(reading);
  for (const Declared& each : all) {
    reading.names.declare(each.place, each.name, NameLevel::configuration, each.values,
                          each.scope->name);
  }
  for (const auto& uses : by_name(all)) {
    target.parameters.push_back(merged(reading, target, uses));
    const Parameter& parameter = target.parameters.back();
    if (!is_typed(parameter.values)) continue;
    target.defines.push_back({parameter.name + "_bytes", bytes_of(parameter), false});
    for (const Declared* const use : uses) {
      reading.names.declare(use->place, parameter.name + "_bytes", NameLevel::configuration, {},
                            use->scope->name);
    }
  }
}

namespace {

/// Ranges that end at an expression of the problem have the values up to it.
void add_end(Reading& reading, Target& target, const Declared& use) {
  if (!use.most) return;
  (void)reading.names.integer(*use.most, NameLevel::problem);
  std::string rule = format("{} <= ({})", use.name, use.most->text());
  if (use.when) rule = format("({}) implies {}", excerpt_of(*use.when).text, rule);
  const Expression own =
      reading.names.integer(Excerpt{rule, *use.most}, NameLevel::configuration, use.scope->name);
  target.constraints.push_back(reading.guarded(*use.scope, own, 1));
}

}  // namespace

void read_conditions(Reading& reading, Target& target) {
  const std::vector<Declared> all = declared_parameters(reading);
  for (const Declared& each : all) add_end(reading, target, each);
  for (const auto& uses : by_name(all)) {
    Parameter& parameter =
        *std::ranges::find(target.parameters, uses.front()->name, &Parameter::name);
    parameter.when = when_of(reading, uses);
    parameter.macro_when = macro_when_of(uses);
  }
}

}  // namespace autotune
