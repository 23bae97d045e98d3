// SPDX-License-Identifier: Apache-2.0
// The parameters of a manifest, as the target and its families declare them.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tuner/target/reading.hpp"
#include "tuner/target/value_reader.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// One declaration. Several families may declare a parameter of the same name.
struct Declared {
  std::string name;
  const ManifestScope* scope;
  Node place;
  std::vector<Value> values;
  const Node* when = nullptr;
  bool run_time = false, for_bits = false;
  WordForm form = WordForm::number;
  WordTexts texts = {};
  std::optional<Excerpt> most = {};  // the end of a range: an expression of the problem
};

Declared declared(const ManifestScope& scope, const std::string& name, const Node& node) {
  Declared made{name, &scope, node, {}};
  if (!node.is(Node::Kind::table)) {
    made.values = is_interval(node) ? ranged_values(node) : listed_values(node, name);
    made.most = sized_end(node);
    return made;
  }
  node.expect_keys(
      {"values", "from", "to", "factor", "step", "when", "run_time", "for_bits", "as"});
  const Node* const values = node.find("values");
  for (const char* const key : {"from", "to", "factor", "step"}) {
    if (values && node.has(key)) node[key].fail("give \"values\" or a range, not both");
  }
  const Node& range = values && is_interval(*values) ? *values : node;
  const bool is_listed = values && &range == &node;
  made.values = is_listed && is_text(node) ? listed_texts(*values, name, made.texts)
                : is_listed                ? listed_values(*values, name)
                                           : ranged_values(range);
  if (!is_listed) made.most = sized_end(range);
  made.when = node.find("when");
  if (const Node* const run_time = node.find("run_time")) made.run_time = run_time->flag();
  if (const Node* const for_bits = node.find("for_bits")) made.for_bits = for_bits->flag();
  made.form = form_of(node, made.values);
  if (made.run_time && made.form != WordForm::number) {
    node["as"].fail("a run_time parameter is not compiled in, so it has no text in the source");
  }
  return made;
}

/// In the order of the manifest, the target's own first.
std::vector<Declared> declared_parameters(const Reading& reading) {
  std::vector<Declared> all;
  for (const ManifestScope& scope : reading.scopes) {
    for (const Node* const parameters : scope.all("parameters")) {
      for (const auto& [name, node] : parameters->members()) {
        all.push_back(declared(scope, name, node));
      }
    }
  }
  return all;
}

// Reads the parameters of a target and merges the declarations of its families.

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
  parameter.for_bits = uses.front()->for_bits;
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

/// Ranges that end at an expression of the problem have the values up to it. A problem without such
/// a value, or with more than the table has, is refused where the parameter always has a meaning.
void add_end(Reading& reading, Target& target, const Declared& use) {
  if (!use.most) return;
  const Excerpt& most = *use.most;
  (void)reading.names.integer(most, NameLevel::problem);
  std::string rule = format("{} <= ({})", use.name, most.text);
  if (use.when) rule = format("({}) implies {}", excerpt_of(*use.when).text, rule);
  const Expression own =
      reading.names.integer(Excerpt{rule, most.node}, NameLevel::configuration, use.scope->name);
  target.constraints.push_back(reading.guarded(*use.scope, own, 1));
  if (use.when || !use.scope->name.empty()) return;
  const std::string end = std::string(trimmed(most.text));
  const auto refuse_unless = [&](const std::string& condition, std::string message) {
    target.rules.push_back(
        {reading.names.integer(Excerpt{condition, most.node}, NameLevel::problem),
         std::move(message)});
  };
  const std::string first = use.values.front().text(), last = use.values.back().text();
  refuse_unless(
      format("{} <= ({})", first, end),
      format("{} has no value here: its range, {} to {}, is empty", use.name, first, end));
  if (use.values.size() < kMostValues) return;
  refuse_unless(format("({}) <= {}", end, last),
                format("{} has more than {} values here, {} to {}: use a larger step, a factor, or "
                       "a smaller end such as min({}, {})",
                       use.name, kMostValues, first, end, end, last));
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

// The default configuration of a target.

namespace {

/// A text that is no word is chosen by itself: `-O2`, or by its name, `_O2`. Other texts are
/// expressions.
Value chosen_in(const Parameter& parameter, const Node& node) {
  if (!node.is(Node::Kind::text)) return node.value();
  for (const auto& [word, text] : parameter.texts) {
    if (node.text() == text) return Value(word);
  }
  return parse_value(node.text());
}

/// An expression over names of the problem, whose value the parameter may have.
SizedDefault sized_default(Reading& reading, const Target& target, std::size_t parameter,
                           const Node& node, const std::string& scope) {
  const Parameter& of = target.parameters[parameter];
  Expression value = reading.names.expression(node, NameLevel::problem, scope);
  const bool is_word = of.values.front().is_word();
  if (is_word != (value.kind() == ValueKind::word)) {
    node.fail(format("expected a {}, as the values of {}", is_word ? "word" : "number", of.name));
  }
  return {target.other_defaults.size(), parameter, std::move(value)};
}

/// Sets one parameter of the next default configuration; `known` are the parameters of this scope.
void choose(Reading& reading, Target& target, Configuration& configuration, const std::string& name,
            const Node& node, const std::vector<std::string>& known,
            const std::vector<Declared>& declared, const std::string& scope) {
  if (std::ranges::find(known, name) == known.end()) {
    const auto elsewhere = std::ranges::find(declared, name, &Declared::name);
    if (elsewhere != declared.end()) {
      node.fail(format("{} belongs to the family {}: set it in the default of that family", name,
                       elsewhere->scope->name));
    }
    node.fail(format("there is no such parameter ({})", suggestion(name, known)));
  }
  const auto index = static_cast<std::size_t>(
      std::ranges::find(target.parameters, name, &Parameter::name) - target.parameters.begin());
  const Parameter& parameter = target.parameters[index];
  const Value value = chosen_in(parameter, node);
  const Value* const meant = meant_value(parameter.values, value);
  std::erase_if(target.sized_defaults, [&](const SizedDefault& each) {
    return each.configuration == target.other_defaults.size() && each.parameter == index;
  });
  if (meant) {
    configuration[index].value = *meant;
    return;
  }
  const bool is_misspelled = is_identifier(value.text()) && parameter.values.front().is_word();
  if (!value.is_word() || is_misspelled || name == reading.family_parameter) {
    node.fail(format("{} is not a value of the parameter", value.text()));
  }
  target.sized_defaults.push_back(sized_default(reading, target, index, node, scope));
  const auto range = std::ranges::find(declared, name, &Declared::name);
  if (!range->most || range->when || !range->scope->name.empty()) return;
  const std::string end(trimmed(range->most->text));
  target.rules.push_back(
      {reading.names.integer(Excerpt{format("({}) <= ({})", node.text(), end), node},
                             NameLevel::problem),
       format("the default of {}, \"{}\", is beyond the end of its range here, \"{}\"", name,
              node.text(), end)});
}

/// The families of the default configurations, in order: one, or a list.
std::vector<const Node*> default_families(const Reading& reading) {
  const Node* const chosen = reading.root.find("default");
  const Node* const family = chosen && !reading.family_parameter.empty()
                                 ? chosen->find(reading.family_parameter)
                                 : nullptr;
  if (!family) return {nullptr};
  if (!family->is(Node::Kind::list)) return {family};
  std::vector<const Node*> families;
  for (const Node& each : family->items(1)) families.push_back(&each);
  return families;
}

/// The default configuration of a family; without one, of the first family, or of the target.
Configuration default_in(Reading& reading, Target& target, const Node* family_node) {
  Configuration configuration;
  for (const Parameter& parameter : target.parameters) {
    configuration.push_back({parameter.name, parameter.values.front()});
  }
  std::vector<std::string> known;
  const std::vector<Declared> declared = declared_parameters(reading);
  if (!reading.family_parameter.empty()) known.push_back(reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name.empty()) known.push_back(each.name);
  }
  const auto choose_all = [&](const Node& chosen, const std::string& scope) {
    for (const auto& [name, node] : chosen.members()) {
      const bool is_family = name == reading.family_parameter;
      choose(reading, target, configuration, name, is_family ? *family_node : node, known, declared,
             scope);
    }
  };
  if (const Node* const chosen = reading.root.find("default")) choose_all(*chosen, "");
  if (reading.family_parameter.empty()) return configuration;
  const std::string family = find_value(configuration, reading.family_parameter)->word();
  for (const Declared& each : declared) {
    if (each.scope->name != family) continue;
    known.push_back(each.name);
    std::ranges::find(configuration, each.name, &NamedValue::name)->value = each.values.front();
  }
  for (const ManifestScope& scope : reading.scopes) {
    if (scope.name != family) continue;
    for (const Node* const chosen : scope.all("default")) choose_all(*chosen, family);
  }
  return configuration;
}

}  // namespace

void read_default(Reading& reading, Target& target) {
  for (const Node* const family : default_families(reading)) {
    target.other_defaults.push_back(default_in(reading, target, family));
  }
  target.default_configuration = target.other_defaults.front();
  target.other_defaults.erase(target.other_defaults.begin());
}

}  // namespace autotune
