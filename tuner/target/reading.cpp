// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/reading.hpp"

#include <span>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

void expect_family_keys(const Node& table) {
  table.expect_keys({"parts", "when", "source", "parameters", "constraints", "default", "let",
                     "defines", "bake_sizes", "workspace", "tensor_maps", "textures", "launch",
                     "kernels", "main", "resources", "model", "description"});
}

std::vector<Node> tables_of(const Node& root, const Node& family) {
  std::vector<Node> tables;
  if (const Node* const parts = family.find("parts")) {
    for (const Node& part : parts->items()) {
      const Node* const known = root.find("parts");
      const Node* const found = known ? known->find(part.text()) : nullptr;
      if (!found) {
        std::vector<std::string> names;
        for (const auto& each : known ? known->members() : std::vector<Node::Member>{}) {
          names.push_back(each.name);
        }
        part.fail(format("there is no part {} ({})", part.text(), suggestion(part.text(), names)));
      }
      expect_family_keys(*found);
      if (const Node* const nested = found->find("parts")) {
        nested->fail("a part cannot use other parts: list them all in the family");
      }
      tables.push_back(*found);
    }
  }
  tables.push_back(family);
  return tables;
}

}  // namespace

std::vector<const Node*> ManifestScope::all(std::string_view key) const {
  std::vector<const Node*> nodes;
  for (const Node& table : tables) {
    if (const Node* const node = table.find(key)) nodes.push_back(node);
  }
  return nodes;
}

const Node* ManifestScope::last(std::string_view key) const {
  const auto nodes = all(key);
  return nodes.empty() ? nullptr : nodes.back();
}

Reading::Reading(Node document, std::filesystem::path where)
    : root(std::move(document)), folder(std::move(where)) {
  scopes.push_back({"", {root}, {}});
  const Node* const families = root.find("families");
  if (!families) return;
  const Node* const family = root.find("family");
  family_parameter = family ? family->identifier() : "FAMILY";
  for (const auto& [name, node] : families->members()) {
    expect_family_keys(node);
    const std::string condition = format("{} == '{}'", family_parameter, name);
    scopes.push_back({name, tables_of(root, node), Expression::parse(condition)});
  }
  if (scopes.size() == 1) families->fail("there are no families: leave the key out");
}

Expression Reading::guarded(const ManifestScope& scope, const Expression& expression,
                            std::int64_t otherwise) {
  if (!scope.guard) return expression;
  return Expression::choice(*scope.guard, expression, Expression::constant(otherwise));
}

std::string Reading::with_values(const ManifestScope& scope, const Node& node,
                                 std::vector<Expression>& values) {
  const std::string text = node.text();
  std::string rest;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '}') node.fail_at(at, "there is no '{' before this '}'");
    rest += text[at];
    if (text[at] != '{') continue;
    const std::size_t close = text.find('}', at);
    if (close == std::string::npos) node.fail_at(at, "there is no '}' after this '{'");
    const Excerpt value{text.substr(at + 1, close - at - 1), node, at + 1};
    values.push_back(names.expression(value, NameLevel::configuration, scope.name));
    rest += '}';
    at = close;
  }
  return rest;
}

bool is_configured(const Node& option) {
  return option.is(Node::Kind::table) || option.text().find_first_of("{}") != std::string::npos;
}

void read_configured_options(Reading& reading, Target& target) {
  const Node* const options = reading.root.find("options");
  for (const Node& item : options ? options->items() : std::vector<Node>{}) {
    if (!is_configured(item)) continue;
    const bool is_table = item.is(Node::Kind::table);
    if (is_table) item.expect_keys({"option", "when"});
    const Node& option = is_table ? item["option"] : item;
    OptionSpec spec;
    spec.text = reading.with_values(reading.target(), option, spec.values);
    const PreprocessorOptions parts = preprocessor_options(std::span(&spec.text, 1));
    if (parts.others.empty() && parts.language.empty()) {
      option.fail(
          "it tells the preprocessor, which does the same in all configurations: use a "
          "parameter, or \"defines\"");
    }
    if (is_table) spec.when = reading.names.integer(item["when"], NameLevel::configuration);
    target.configured_options.push_back(std::move(spec));
  }
}

std::vector<Expression> Reading::integers(const ManifestScope& scope, const Node& node,
                                          std::size_t fewest, std::size_t most) {
  if (node.is(Node::Kind::list)) (void)node.items(fewest, most);
  std::vector<Expression> expressions;
  for (const Node& item : node.one_or_more(most)) {
    expressions.push_back(names.integer(item, NameLevel::configuration, scope.name));
  }
  return expressions;
}

}  // namespace autotune
