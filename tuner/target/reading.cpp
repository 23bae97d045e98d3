// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/reading.hpp"

#include <algorithm>
#include <span>

#include "tuner/cache/preprocessor_options.hpp"
#include "tuner/core/expression_parser.hpp"
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
  return with_values(scope, node, values, [](auto&) { return std::nullopt; });
}

std::string Reading::with_values(const ManifestScope& scope, const Node& node,
                                 std::vector<Expression>& values, const Literal& literal) {
  const std::string text = node.text();
  std::string rest;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_doubled = at + 1 < text.size() && text[at + 1] == text[at];
    if (is_doubled && (text[at] == '{' || text[at] == '}')) {
      rest += text[at++];
      continue;
    }
    if (text[at] == '}') node.fail_at(at, "there is no '{' before this '}'");
    if (text[at] != '{') {
      rest += text[at];
      continue;
    }
    const std::size_t close = text.find('}', at);
    if (close == std::string::npos) node.fail_at(at, "there is no '}' after this '{'");
    const Excerpt value{text.substr(at + 1, close - at - 1), node, at + 1};
    at = close;
    if (const auto known = literal(value.text)) {
      rest += *known;
      continue;
    }
    values.push_back(names.expression(value, NameLevel::configuration, scope.name));
    rest += "{}";
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

namespace {

bool is_turn(const std::string& name) { return name == kTurn || name == kTurns; }

}  // namespace

Names::Names() {
  for (const char* name :
       {"is_host", "compute_capability", "multiprocessors", "max_threads", "shared_bytes",
        "static_shared_bytes", "registers", "l2_bytes", "memory_bytes", "warp_size"}) {
    scopes_[""][std::string("device.") + name].name = std::string("device.") + name;
  }
}

Names::Entry& Names::add(const Node& place, const std::string& name, const std::string& scope) {
  if (name == "not" || name == "true" || name == "false") {
    place.fail(format("{} cannot be a name: it is part of expressions", name));
  }
  const bool is_root = scopes_[""].contains(name);
  const bool taken = scopes_[scope].contains(name) || is_root ||
                     (scope.empty() && std::ranges::any_of(scopes_, [&](const auto& each) {
                        return each.second.contains(name);
                      }));
  if (taken) {
    place.fail(is_root && !scope.empty()
                   ? format("{} is declared by the target: a family cannot declare it again", name)
                   : format("{} is declared twice: sizes, settings, parameters, definitions and "
                            "arguments need names of their own",
                            name));
  }
  Entry& entry = scopes_[scope][name];
  entry.name = scope.empty() ? name : format("{}.{}", scope, name);
  entry.place = place;
  return entry;
}

void Names::declare(const Node& place, const std::string& name, NameLevel level,
                    const std::vector<Value>& values, const std::string& scope) {
  Entry& entry = add(place, name, scope);
  entry.name = name;
  entry.level = level;
  if (!values.empty() && values.front().is_real()) entry.value_kind = ValueKind::real;
  if (values.empty() || !values.front().is_word()) return;
  entry.value_kind = ValueKind::word;
  for (const Value& value : values) entry.words.push_back(value.word());
}

std::string Names::declare_handle(const Node& place, const std::string& name,
                                  const std::string& scope) {
  Entry& entry = add(place, name, scope);
  entry.kind = Entry::Kind::handle;
  entry.value_kind = ValueKind::handle;
  return entry.name;
}

void Names::define(const Definition& definition, const std::string& scope, bool is_macro) {
  const Node& place = definition.value.node;
  Entry& entry = add(place, definition.name, scope);
  entry.kind = Entry::Kind::definition;
  entry.definition = definition;
  entry.is_macro = is_macro;
  defined_.emplace_back(scope, definition.name);
  if (definition.parameters.empty()) return;
  if (is_macro) definition.value.fail("a function cannot be a macro: put it into let");
  entry.kind = Entry::Kind::function;
  entry.function = std::make_shared<const FunctionText>(
      FunctionText{definition.parameters, definition.value.text});
}

std::vector<Names::Defined> Names::definitions() {
  for (const auto& [scope, name] : defined_) {
    Entry& entry = scopes_[scope].at(name);
    if (entry.kind == Entry::Kind::function) {
      check_function(entry, scope);
    } else {
      parse(entry, scope);
    }
  }
  return parsed_;
}

/// The excerpt of a function's body. Errors are reported at their place in it.
void Names::check_function(const Entry& entry, const std::string& scope) {
  const FunctionText& function = *entry.function;
  for (const std::string& parameter : function.parameters) {
    if (find(parameter, scope)) {
      entry.place.fail(
          format("{}(): its parameter {} is a name already", entry.definition->name, parameter));
    }
  }
  const auto resolver = [&](const std::string& name) {
    const auto& own = function.parameters;
    const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
    return is_own ? NameMeaning{ValueKind::any, name}
                  : meaning(name, NameLevel::configuration, scope, false);
  };
  try {
    Expression::parse(function.body, resolver);
  } catch (const ExpressionError& error) {
    entry.definition->value.fail(error);
  }
}

void Names::parse(Entry& entry, const std::string& scope) {
  if (entry.value) return;
  const auto known = std::find(path_.begin(), path_.end(), &entry);
  if (known != path_.end()) {
    std::vector<std::string> circle;
    for (auto each = known; each != path_.end(); ++each)
      circle.push_back((*each)->definition->name);
    circle.push_back(entry.definition->name);
    entry.definition->value.fail(
        format("{} needs itself: {}", entry.definition->name, joined(circle, " -> ")));
  }
  path_.push_back(&entry);
  entry.value = expression(entry.definition->value, NameLevel::configuration, scope);
  path_.pop_back();
  entry.value_kind = entry.value->kind();
  if (entry.value_kind == ValueKind::word) {
    entry.definition->value.fail("a definition is a number: words can only be compared");
  }
  const auto of_problem = [&](const std::string& name) {
    const Entry* const named = find(short_name_of(name), scope);
    return !named || named->level == NameLevel::problem;
  };
  const bool all = std::ranges::all_of(entry.value->names(), of_problem);
  entry.level = all ? NameLevel::problem : NameLevel::configuration;
  parsed_.push_back({scope, {entry.name, *entry.value, entry.is_macro}, entry.place});
}

std::string Names::short_name_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return name.starts_with("device.") || dot == std::string::npos ? name : name.substr(dot + 1);
}

Names::Entry* Names::find(const std::string& name, const std::string& scope) {
  for (const std::string& each : {scope, std::string()}) {
    const auto found = scopes_[each].find(name);
    if (found != scopes_[each].end()) return &found->second;
  }
  return nullptr;
}

NameMeaning Names::meaning(const std::string& name, NameLevel level, const std::string& scope,
                           bool handles) {
  Entry* const entry = find(name, scope);
  const bool is_of_turns = is_turn(name) && has_turns_ && path_.empty();
  if (is_of_turns && level == NameLevel::configuration) return {ValueKind::integer, name};
  if (!entry || (entry->kind == Entry::Kind::handle && !handles)) {
    throw NameError(reason_unknown(name, scope, handles));
  }
  if (entry->kind == Entry::Kind::function) return {ValueKind::any, name, nullptr, entry->function};
  if (entry->kind == Entry::Kind::definition) {
    parse(*entry, scopes_[scope].contains(name) ? scope : std::string());
  }
  if (level == NameLevel::problem && entry->level == NameLevel::configuration) {
    throw NameError(format("this depends on a parameter: {}", path_to_parameter(*entry)));
  }
  return {entry->value_kind, entry->name, entry->words.empty() ? nullptr : &entry->words};
}

std::string Names::reason_unknown(const std::string& name, const std::string& scope,
                                  bool handles) const {
  std::vector<std::string> families, names;
  for (const auto& [each, entries] : scopes_) {
    if (each != scope && !each.empty() && entries.contains(name)) families.push_back(each);
    if (each != scope && !each.empty()) continue;
    for (const auto& [known, entry] : entries) {
      if (entry.kind != Entry::Kind::handle || handles) names.push_back(known);
    }
  }
  const auto root = scopes_.find("");
  if (root->second.contains(name) || (!scope.empty() && scopes_.at(scope).contains(name))) {
    return format("{} is an argument of its own: it cannot be part of an expression", name);
  }
  if (families.empty() && is_turn(name)) {
    return format("{} is the name of a launch's turn: only kernels with \"repeat\" have it", name);
  }
  if (families.empty()) {
    return format("there is no name {} ({})", name, suggestion(name, names));
  }
  return format("{} belongs to {} {}: move this line there, or declare {} at the target", name,
                families.size() == 1 ? "the family" : "the families", joined(families, " and "),
                name);
}

std::string Names::path_to_parameter(const Entry& entry) const {
  std::string path = entry.definition ? entry.definition->name : entry.name;
  if (!entry.value) return path;
  for (const std::string& name : entry.value->names()) {
    for (const auto& [scope, entries] : scopes_) {
      for (const auto& [known, next] : entries) {
        if (next.name == name && next.level == NameLevel::configuration) {
          return format("{} -> {}", path, path_to_parameter(next));
        }
      }
    }
  }
  return path;
}

Expression Names::expression(const Excerpt& excerpt, NameLevel level, const std::string& scope,
                             bool handles) {
  try {
    return Expression::parse(excerpt.text, [&](const std::string& name) {
      return meaning(name, level, scope, handles);
    });
  } catch (const ExpressionError& error) {
    excerpt.fail(error);
  }
}

Expression Names::expression(const Node& node, NameLevel level, const std::string& scope) {
  return expression(excerpt_of(node), level, scope);
}

Expression Names::integer(const Excerpt& excerpt, NameLevel level, const std::string& scope) {
  Expression expression = this->expression(excerpt, level, scope);
  if (expression.kind() == ValueKind::integer) return expression;
  excerpt.fail(expression.kind() == ValueKind::real
                   ? kNoInteger
                   : "it must be a number: a word can only be compared");
}

Expression Names::integer(const Node& node, NameLevel level, const std::string& scope) {
  return integer(excerpt_of(node), level, scope);
}

std::optional<Expression> Names::integer_in(const Node& table, std::string_view key,
                                            NameLevel level, const std::string& scope) {
  const Node* const node = table.find(key);
  return node ? std::optional(integer(*node, level, scope)) : std::nullopt;
}

void Names::allow_turns(const Node& place) {
  for (const auto& [scope, entries] : scopes_) {
    for (const char* const name : {kTurn, kTurns}) {
      if (!entries.contains(name)) continue;
      place.fail(
          format("{0} names the launches of a kernel with \"repeat\": rename the other {0}", name));
    }
  }
  has_turns_ = true;
}

AccessSpec Names::access(const Excerpt& excerpt, const std::string& scope) {
  AccessSpec access = [&] {
    try {
      return parse_access(excerpt.text, [&](const std::string& name) {
        return meaning(name, NameLevel::configuration, scope, false);
      });
    } catch (const Error& error) {
      excerpt.fail(error.what());
    }
  }();
  const Entry* const buffer = find(access.buffer, scope);
  if (!buffer || buffer->kind != Entry::Kind::handle) {
    excerpt.fail(format("there is no buffer {}", access.buffer));
  }
  access.buffer = buffer->name;
  return access;
}

}  // namespace autotune
