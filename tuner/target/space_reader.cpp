// SPDX-License-Identifier: Apache-2.0
// The part of a manifest that says what a problem is and what can be tuned.
#include <algorithm>
#include <limits>
#include <set>

#include "tuner/target/reading.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostValues = 65535;
constexpr std::size_t kMostWords = 1000;  // each is a macro of every source

const char* kind_of(const Value& value) {
  return value.is_word() ? "word" : value.is_real() ? "real number" : "integer";
}

bool are_alike(const Value& a, const Value& b) {
  return std::string_view(kind_of(a)) == kind_of(b);
}

/// Of the parameter or setting `name`: all numbers or all words. One real number makes all real.
std::vector<Value> listed_values(const Node& node, const std::string& name) {
  std::vector<Value> values;
  std::set<Value> known;
  const std::vector<Node>& items = node.items(1, kMostValues);
  const bool real =
      std::ranges::any_of(items, [](const Node& item) { return item.is(Node::Kind::real); });
  for (const Node& item : items) {
    Value value = item.value();
    if (real && value.is_integer()) value = value.number();
    if (!known.insert(value).second) item.fail(format("{} stands here twice", value.text()));
    if (value.is_word() && known.size() > kMostWords) {
      node.fail(format("{} has more than {} words: number them instead", name, kMostWords));
    }
    if (!values.empty() && value.is_word() != values.front().is_word()) {
      item.fail(format("{} has the {} {} and the {} {}: give it numbers alone or words alone", name,
                       kind_of(values.front()), values.front().text(), kind_of(value),
                       value.text()));
    }
    values.push_back(std::move(value));
  }
  return values;
}

/// `{ from = 1, to = 64, factor = 2 }` or `step`.
std::vector<Value> ranged_values(const Node& node) {
  const std::int64_t from = node["from"].integer(), to = node["to"].integer();
  if (node.has("factor") == node.has("step")) node.fail("give \"factor\" or \"step\"");
  const bool by_factor = node.has("factor");
  const Node& by = node[by_factor ? "factor" : "step"];
  const std::int64_t change = by.integer();
  if (change < (by_factor ? 2 : 1)) by.fail("the values do not rise: use a larger one");
  if (by_factor && from < 1) node.fail("a factor needs values of 1 or more");
  if (to < from) node.fail(format("{} to {} goes down", from, to));
  std::vector<Value> values;
  for (std::int64_t value = from; value <= to;) {
    values.emplace_back(value);
    if (values.size() > kMostValues) node.fail("these are more than 65535 values");
    const bool ends = by_factor ? __builtin_mul_overflow(value, change, &value)
                                : __builtin_add_overflow(value, change, &value);
    if (ends) break;
  }
  return values;
}

bool is_typed(const std::vector<Value>& values) {
  return std::ranges::all_of(
      values, [](const Value& value) { return element_type(value.text()).has_value(); });
}

/// `as = "text"`, of a table with `values`.
WordForm form_of(const Node& node, const std::vector<Value>& values) {
  const Node* const as = node.find("as");
  if (!as) return WordForm::number;
  const std::string text = as->text();
  if (text != "text" && text != "type") as->fail("expected \"text\" or \"type\"");
  if (!values.front().is_word()) as->fail("only words can be text or types");
  if (text == "text") return WordForm::text;
  if (!is_typed(values)) as->fail(format("the types are {}", element_types()));
  return WordForm::type;
}

/// A parameter as the target or a family declares it.
struct Declared {
  std::string name;
  const ManifestScope* scope;
  Node place;
  std::vector<Value> values;
  const Node* when = nullptr;
  bool run_time = false;
  WordForm form = WordForm::number;
};

Declared declared(const ManifestScope& scope, const std::string& name, const Node& node) {
  Declared made{name, &scope, node, {}};
  if (node.is(Node::Kind::list)) {
    made.values = listed_values(node, name);
    return made;
  }
  node.expect_keys({"values", "from", "to", "factor", "step", "when", "run_time", "as"});
  const Node* const values = node.find("values");
  made.values = values ? listed_values(*values, name) : ranged_values(node);
  made.when = node.find("when");
  if (const Node* const run_time = node.find("run_time")) made.run_time = run_time->flag();
  made.form = form_of(node, made.values);
  if (made.run_time && made.form != WordForm::number) {
    node["as"].fail("a run_time parameter is not compiled in, so it has no text in the source");
  }
  return made;
}

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

/// The values of one name in several families: rising, if each family's rise.
std::vector<Value> united(const std::vector<const Declared*>& uses) {
  if (uses.size() == 1) return uses.front()->values;
  std::vector<Value> all;
  std::set<Value> known;
  bool rising = true;
  for (const Declared* const use : uses) {
    const Value &mine = use->values.front(), &others = uses.front()->values.front();
    if (!are_alike(mine, others)) {
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

Parameter merged(Reading& reading, Target& target, const std::vector<const Declared*>& uses) {
  Parameter parameter{uses.front()->name,     united(uses), {},
                      uses.front()->run_time, {},           uses.front()->form};
  for (const Declared* const use : uses) {
    if (use->run_time != parameter.run_time) {
      use->place.fail(format("{} is run_time in one family only", use->name));
    }
    if (use->form != parameter.form) {
      use->place.fail(format("\"as\" of {} differs between families", use->name));
    }
    if (use->values == parameter.values) continue;
    const Expression own =
        condition_on(parameter, format("{} in [{}]", use->name, list_text(use->values)));
    target.constraints.push_back(reading.guarded(*use->scope, own, 1));
  }
  return parameter;
}

/// Of a parameter that holds element types, the bytes of one: what `bytes(T)` is.
Expression bytes_of(const Parameter& parameter) {
  Expression bytes = Expression::constant(0);
  for (const Value& value : parameter.values) {
    bytes = Expression::choice(
        condition_on(parameter, format("{} == {}", parameter.name, value.literal())),
        Expression::constant(autotune::bytes_of(*element_type(value.word()))), bytes);
  }
  return bytes;
}

/// When a parameter has a meaning: in its families, under the condition that each of them gives.
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

/// Where the source sees it: in its families.
std::optional<Expression> macro_when_of(const std::vector<const Declared*>& uses) {
  std::optional<Expression> all;
  for (const Declared* const use : uses) {
    if (!use->scope->guard) return std::nullopt;
    all = Expression::choice(*use->scope->guard, Expression::constant(1),
                             all.value_or(Expression::constant(0)));
  }
  return all;
}

/// By name, in the order in which names first stand.
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

void choose(Target& target, const std::string& name, const Node& node,
            const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    node.fail(format("there is no such parameter ({})", suggestion(name, known)));
  }
  const auto index = static_cast<std::size_t>(
      std::ranges::find(target.parameters, name, &Parameter::name) - target.parameters.begin());
  const Value value = node.value();
  const Value* const meant = meant_value(target.parameters[index].values, value);
  if (!meant) node.fail(format("{} is none of the parameter's values", value.text()));
  target.default_configuration[index].value = *meant;
}

void read_default(Reading& reading, Target& target) {
  for (const Parameter& parameter : target.parameters) {
    target.default_configuration.push_back({parameter.name, parameter.values.front()});
  }
  std::vector<std::string> known;
  const std::vector<Declared> declared = declared_parameters(reading);
  if (!reading.family_parameter.empty()) known.push_back(reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name.empty()) known.push_back(each.name);
  }
  if (const Node* const chosen = reading.root.find("default")) {
    for (const auto& [name, node] : chosen->members()) choose(target, name, node, known);
  }
  if (reading.family_parameter.empty()) return;
  const Value* const family = find_value(target.default_configuration, reading.family_parameter);
  for (const Declared& each : declared) {
    if (each.scope->name != family->word()) continue;
    known.push_back(each.name);
    std::ranges::find(target.default_configuration, each.name, &NamedValue::name)->value =
        each.values.front();
  }
  for (const ManifestScope& scope : reading.scopes) {
    if (scope.name != family->word()) continue;
    for (const Node* const chosen : scope.all("default")) {
      for (const auto& [name, node] : chosen->members()) choose(target, name, node, known);
    }
  }
}

SizeRule size_rule(const Node& node) {
  node.expect_keys({"fixed", "multiple", "least"});
  SizeRule rule;
  const auto positive = [&](const char* key, std::int64_t& value) {
    const Node* const given = node.find(key);
    if (!given) return;
    value = given->integer();
    if (value < 1 || value > std::numeric_limits<std::int32_t>::max()) {
      given->fail("a size is from 1 to 2147483647");
    }
  };
  std::int64_t fixed = 0;
  positive("fixed", fixed);
  positive("multiple", rule.multiple);
  positive("least", rule.least);
  if (fixed == 0) return rule;
  if (node.has("multiple") || node.has("least")) node.fail("\"fixed\" needs no other key");
  rule.fixed = fixed;
  return rule;
}

/// Each part of a conjunction is a constraint of its own, because it depends on fewer parameters.
void add_constraint(Reading& reading, Target& target, const ManifestScope& scope,
                    const Excerpt& statement) {
  const auto parsed = [&](const Excerpt& excerpt) {
    return reading.names.integer(excerpt, NameLevel::configuration, scope.name);
  };
  const Expression whole = parsed(statement);  // with the place of a mistake
  const std::vector<std::string> parts =
      reading.format == 1 ? std::vector{statement.text} : conjuncts_of(statement.text);
  for (const std::string& part : parts) {
    const Expression own =
        parts.size() == 1 ? whole : parsed({part, statement.node, statement.offset});
    target.constraints.push_back(reading.guarded(scope, own, 1));
  }
}

}  // namespace

void read_problem(Reading& reading, Target& target) {
  const Node& sizes = reading.root["sizes"];
  if (!sizes.is(Node::Kind::table)) {
    for (const Node& item : sizes.items(1)) {
      target.sizes.push_back(item.identifier());
      reading.names.declare(item, target.sizes.back(), NameLevel::problem);
    }
  } else {
    for (const auto& [name, node] : sizes.members()) {
      target.sizes.push_back(name);
      target.size_rules.push_back(size_rule(node));
      reading.names.declare(node, name, NameLevel::problem);
    }
    if (target.sizes.empty()) sizes.fail("expected one or more");
  }
  const Node* const settings = reading.root.find("settings");
  if (!settings) return;
  for (const auto& [name, node] : settings->members()) {
    const Node* list = &node;
    if (node.is(Node::Kind::table)) {
      node.expect_keys({"values", "as"});
      list = &node["values"];
    }
    const std::vector<Value> values = listed_values(*list, name);
    const bool is_table = list != &node;
    target.settings.push_back({name, values, is_table ? form_of(node, values) : WordForm::number});
    reading.names.declare(node, name, NameLevel::problem, values);
    if (is_typed(values)) reading.names.declare(node, name + "_bytes", NameLevel::problem);
  }
}

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

void read_definitions(Reading& reading, Target& target) {
  for (const ManifestScope& scope : reading.scopes) {
    for (const char* const key : {"let", "defines"}) {
      for (const Node* const block : scope.all(key)) {
        for (const Definition& each : definitions_of(*block)) {
          reading.names.define(each, scope.name, key == std::string_view("defines"));
        }
      }
    }
  }
  for (auto& [name, spec, place] : reading.names.definitions()) {
    const auto scope = std::ranges::find(reading.scopes, name, &ManifestScope::name);
    spec.value = reading.guarded(*scope, spec.value, 0);
    spec.when = scope->guard;
    target.defines.push_back(spec);
  }
}

void read_space(Reading& reading, Target& target) {
  const std::vector<Declared> all = declared_parameters(reading);
  for (const auto& uses : by_name(all)) {
    Parameter& parameter =
        *std::ranges::find(target.parameters, uses.front()->name, &Parameter::name);
    parameter.when = when_of(reading, uses);
    parameter.macro_when = macro_when_of(uses);
  }
  std::optional<Expression> bake_sizes;
  for (const ManifestScope& scope : reading.scopes) {
    for (const char* const key : {"when", "constraints"}) {
      if (scope.name.empty() && key == std::string_view("when")) continue;
      for (const Node* const block : scope.all(key)) {
        for (const Excerpt& each : statements_of(*block)) {
          add_constraint(reading, target, scope, each);
        }
      }
    }
    const Node* const bake = scope.last("bake_sizes");
    if (!bake) continue;
    const Expression own = reading.names.integer(*bake, NameLevel::configuration, scope.name);
    bake_sizes = scope.guard ? Expression::choice(*scope.guard, own,
                                                  bake_sizes.value_or(Expression::constant(0)))
                             : own;
  }
  target.bake_sizes = bake_sizes;
  if (const Node* const pattern = reading.root.find("size_macros")) {
    target.size_macros = pattern->text();
    if (std::ranges::count(target.size_macros, '*') != 1) {
      pattern->fail("expected one * where the name of a size goes, as in \"SIZE_*\"");
    }
  }
  read_default(reading, target);
}

}  // namespace autotune
