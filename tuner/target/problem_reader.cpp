// SPDX-License-Identifier: Apache-2.0
// Reads the sizes and settings of a manifest.
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

}  // namespace autotune
