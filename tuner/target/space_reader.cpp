// SPDX-License-Identifier: Apache-2.0
// Reads definitions, constraints, and when sizes are compiled in.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "tuner/core/parameter_space.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/target/value_reader.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Splits conjunctions into constraints: each part depends on fewer parameters.
void add_constraint(Reading& reading, Target& target, const ManifestScope& scope,
                    const Excerpt& statement) {
  const auto parsed = [&](const Excerpt& excerpt) {
    return reading.names.integer(excerpt, NameLevel::configuration, scope.name);
  };
  const Expression whole = parsed(statement);  // with the place of a mistake
  const std::vector<std::string> parts = conjuncts_of(statement.text);
  for (const std::string& part : parts) {
    const Expression own =
        parts.size() == 1 ? whole : parsed({part, statement.node, statement.offset});
    target.constraints.push_back(reading.guarded(scope, own, 1));
  }
}

void read_constraints(Reading& reading, Target& target, const ManifestScope& scope) {
  for (const char* const key : {"when", "constraints"}) {
    if (scope.name.empty() && key == std::string_view("when")) continue;
    for (const Node* const block : scope.all(key)) {
      for (const Excerpt& each : statements_of(*block)) {
        add_constraint(reading, target, scope, each);
      }
    }
  }
}

/// A constraint of a family applies to its own configurations only.
void read_baked_sizes(Reading& reading, Target& target, const ManifestScope& scope) {
  const Node* const bake = scope.last("bake_sizes");
  if (!bake) return;
  Expression own = reading.names.integer(*bake, NameLevel::configuration, scope.name);
  if (scope.guard) {
    own =
        Expression::choice(*scope.guard, own, target.bake_sizes.value_or(Expression::constant(0)));
  }
  target.bake_sizes = own;
}

constexpr std::int64_t kMostAligned = 256;  // of what cudaMalloc() gives

/// Their defaults may use definitions, and definitions may use them.
void define_free_sizes(Reading& reading, Target& target) {
  for (const auto& [name, node] : reading.root.members_of("free")) {
    node.expect_keys({"default", "least"});
    reading.names.define({name, {}, excerpt_of(node["default"])}, "", false);
    target.free_sizes.push_back({name, Expression::constant(0)});
  }
  for (const auto& [name, node] : reading.root["arguments"].members()) {
    const Node* const aligned = node.find("aligned");
    if (!aligned) continue;
    const std::int64_t most = aligned->integer();
    if (most < 1 || most > kMostAligned || (most & (most - 1)) != 0) {
      aligned->fail(format("expected a power of two up to {}, in bytes", kMostAligned));
    }
    reading.names.define({aligned_name(name), {}, excerpt_of(*aligned)}, "", false);
    target.free_sizes.push_back({aligned_name(name), Expression::constant(1), most});
  }
}

/// A rule that gives no message is its own.
ProblemRule rule_of(Reading& reading, const Excerpt& rule, const Node* message) {
  return {reading.names.integer(rule, NameLevel::problem),
          message ? message->text()
                  : format("there is no such problem: \"{}\" does not hold", rule.text)};
}

}  // namespace

void read_definitions(Reading& reading, Target& target) {
  std::size_t count = 0;
  define_free_sizes(reading, target);
  for (const ManifestScope& scope : reading.scopes) {
    for (const char* const key : {"let", "defines"}) {
      for (const Node* const block : scope.all(key)) {
        for (const Definition& each : definitions_of(*block)) {
          if (++count > kMostDefines) {
            each.value.node.fail(
                format("there are more than {} definitions: leave some out", kMostDefines));
          }
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

void read_rules(Reading& reading, Target& target) {
  for (FreeSize& size : target.free_sizes) {
    if (size.most) continue;  // an alignment
    const Node& node = reading.root["free"][size.name];
    const Excerpt value = excerpt_of(node["default"]);
    (void)reading.names.integer({size.name, value.node, value.offset}, NameLevel::problem);
    const auto least = reading.names.integer_in(node, "least", NameLevel::problem);
    if (least) size.least = *least;
  }
  const Node* const rules = reading.root.find("requires");
  if (!rules) return;
  for (const Node& each : rules->one_or_more(kMostItems)) {
    if (each.is(Node::Kind::table)) {
      each.expect_keys({"rule", "message"});
      target.rules.push_back(rule_of(reading, excerpt_of(each["rule"]), &each["message"]));
      continue;
    }
    for (const Excerpt& rule : statements_of(each)) {
      target.rules.push_back(rule_of(reading, rule, nullptr));
    }
  }
}

void read_space(Reading& reading, Target& target) {
  for (const ManifestScope& scope : reading.scopes) {
    read_constraints(reading, target, scope);
    read_baked_sizes(reading, target, scope);
  }
  const Node* const pattern = reading.root.find("size_macros");
  if (!pattern) return;
  target.size_macros = pattern->text();
  if (std::ranges::count(target.size_macros, '*') != 1) {
    pattern->fail("expected one * where the name of a size goes, as in \"SIZE_*\"");
  }
}

// Reads the sizes and settings of a manifest.

namespace {

SizeRule size_rule(const Node& node) {
  node.expect_keys({"fixed", "multiple", "least", "default"});
  SizeRule rule;
  const auto positive = [&](const char* key, std::int64_t& value) {
    const Node* const given = node.find(key);
    if (!given) return;
    value = given->integer();
    if (value < 1 || value > std::numeric_limits<std::int32_t>::max()) {
      given->fail("a size must be from 1 to 2147483647");
    }
  };
  std::int64_t fixed = 0, if_absent = 0;
  positive("fixed", fixed);
  positive("multiple", rule.multiple);
  positive("least", rule.least);
  positive("default", if_absent);
  if (if_absent > 0) {
    rule.if_absent = if_absent;
    if (if_absent % rule.multiple != 0 || if_absent < rule.least) {
      node["default"].fail("it is not one of the values that \"multiple\" and \"least\" allow");
    }
  }
  if (fixed == 0) return rule;
  if (node.has("multiple") || node.has("least") || node.has("default"))
    node.fail("\"fixed\" needs no other key");
  rule.fixed = fixed;
  return rule;
}

/// Every combination of the values of some settings.
std::vector<NamedValues> combinations(const std::vector<Setting>& settings) {
  std::vector<NamedValues> all = {{}};
  for (const Setting& setting : settings) {
    std::vector<NamedValues> longer;
    for (const NamedValues& before : all) {
      for (const Value& value : setting.values) {
        longer.push_back(before);
        longer.back().push_back({setting.name, value});
      }
    }
    all = std::move(longer);
  }
  return all;
}

const Value& value_in(const Node& node, const Setting& setting) {
  const Value* const value = meant_value(setting.values, node.value());
  if (!value) node.fail(format("{} is not a value of the setting", node.value().text()));
  return *value;
}

/// One of the setting's values, or an expression over the settings before it.
Expression setting_default(Reading& reading, const Node& node, const Setting& setting,
                           const std::vector<Setting>& before) {
  const bool is_expression =
      node.is(Node::Kind::text) &&
      std::ranges::find(setting.values, node.text(), &Value::text) == setting.values.end();
  if (!is_expression) return Expression::constant(value_in(node, setting).code());
  const Expression expression = reading.names.expression(node, NameLevel::problem);
  std::vector<Setting> named;
  for (const std::string& name : expression.names()) {
    const auto one = std::ranges::find(before, name, &Setting::name);
    if (one == before.end()) node.fail(format("{} is not a setting before {}", name, setting.name));
    named.push_back(*one);
  }
  Setting with_default = setting;
  with_default.if_absent = expression;
  try {
    for (const NamedValues& each : combinations(named)) default_value(with_default, each);
  } catch (const Error& error) {
    node.fail(error.what());
  }
  return expression;
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
      const bool may_be_absent = needed_sizes(target) < target.sizes.size();
      target.sizes.push_back(name);
      target.size_rules.push_back(size_rule(node));
      if (may_be_absent && !target.size_rules.back().if_absent) {
        node.fail(
            format("{} has no default, but {} before it has: only the last sizes may be left "
                   "out, so put {} first or give it a default",
                   name, target.sizes[needed_sizes(target)], name));
      }
      reading.names.declare(node, name, NameLevel::problem);
    }
    if (target.sizes.empty()) sizes.fail("expected one or more");
  }
  const Node* const settings = reading.root.find("settings");
  if (!settings) return;
  for (const auto& [name, node] : settings->members()) {
    const Node* list = &node;
    if (node.is(Node::Kind::table)) {
      node.expect_keys({"values", "as", "default", "alike"});
      list = &node["values"];
    }
    Setting setting{name, {}};
    const bool is_of_texts = list != &node && is_text(node);
    setting.values =
        is_of_texts ? listed_texts(*list, name, setting.texts) : listed_values(*list, name);
    const std::vector<Value>& values = setting.values;
    if (list != &node) {
      setting.form = form_of(node, values);
      if (const Node* const otherwise = node.find("default")) {
        setting.if_absent = setting_default(reading, *otherwise, setting, target.settings);
      }
      if (const Node* const alike = node.find("alike")) {
        for (const Node& each : alike->items(2)) setting.alike.push_back(value_in(each, setting));
      }
    }
    target.settings.push_back(setting);
    reading.names.declare(node, name, NameLevel::problem, values);
    if (is_typed(values)) reading.names.declare(node, name + "_bytes", NameLevel::problem);
  }
}

}  // namespace autotune
