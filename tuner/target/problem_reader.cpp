// SPDX-License-Identifier: Apache-2.0
// Reads the sizes and settings of a manifest.
#include <algorithm>
#include <limits>

#include "tuner/target/reading.hpp"
#include "tuner/target/value_reader.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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

/// One of the setting's values, or an expression over the settings before it.
Expression setting_default(Reading& reading, const Node& node, const Setting& setting,
                           const std::vector<Setting>& before) {
  const bool is_expression =
      node.is(Node::Kind::text) &&
      std::ranges::find(setting.values, node.text(), &Value::text) == setting.values.end();
  if (!is_expression) {
    const Value* const value = meant_value(setting.values, node.value());
    if (!value) node.fail(format("{} is not a value of the setting", node.value().text()));
    return Expression::constant(value->code());
  }
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
      node.expect_keys({"values", "as", "default"});
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
    }
    target.settings.push_back(setting);
    reading.names.declare(node, name, NameLevel::problem, values);
    if (is_typed(values)) reading.names.declare(node, name + "_bytes", NameLevel::problem);
  }
}

}  // namespace autotune
