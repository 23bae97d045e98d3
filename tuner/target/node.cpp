// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/node.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string kind_of(const Json& json) {
  if (json.is_number_float()) return "a number with a fraction or an exponent";
  return format("{} {}", json.is_array() || json.is_object() ? "an" : "a", json.type_name());
}

std::vector<std::string> listed(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

void check_words(const Node& node, const Expression& expression, const Vocabulary& vocabulary) {
  for (const std::string& name : expression.names()) {
    if (vocabulary.names.contains(name)) continue;
    node.fail(format("nothing is called {} at column {} of \"{}\" ({})", name,
                     expression.column_of(name), expression.text(),
                     suggestion(name, listed(vocabulary.names))));
  }
  for (const std::string& word : expression.words()) {
    if (vocabulary.words.contains(word)) continue;
    node.fail(format("no parameter or setting has the value '{}' at column {} of \"{}\" ({})", word,
                     expression.column_of(word), expression.text(),
                     suggestion(word, listed(vocabulary.words))));
  }
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

void Node::fail(std::string_view what) const {
  throw Error(key_.empty() ? format("{}: {}", file_, what)
                           : format("{}: {}: {}", file_, key_, what));
}

void Node::expect_keys(std::initializer_list<std::string_view> keys) const {
  if (!json_->is_object()) fail(format("expected an object, got {}", kind_of(*json_)));
  for (const auto& [name, value] : json_->items()) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    fail(format("there is no key \"{}\" ({})", name,
                suggestion(name, std::vector<std::string>(keys.begin(), keys.end()))));
  }
}

Node Node::operator[](std::string_view name) const {
  if (const auto found = find(name)) return *found;
  fail(format("\"{}\" is missing", name));
}

std::optional<Node> Node::find(std::string_view name) const {
  const auto found = json_->find(name);
  if (found == json_->end()) return std::nullopt;
  return Node(*found, file_, key_.empty() ? std::string(name) : format("{}.{}", key_, name));
}

std::vector<Node> Node::items(std::size_t fewest, std::size_t most) const {
  if (!json_->is_array()) fail(format("expected an array, got {}", kind_of(*json_)));
  if (json_->size() < fewest || json_->size() > most) {
    const std::string wanted = fewest == most           ? std::to_string(fewest)
                               : json_->size() < fewest ? format("{} or more", fewest)
                                                        : format("{} at most", most);
    fail(format("has {} items, expected {}", json_->size(), wanted));
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    nodes.emplace_back((*json_)[i], file_, format("{}[{}]", key_, i));
  }
  return nodes;
}

std::vector<Node::Member> Node::members() const {
  if (!json_->is_object()) fail(format("expected an object, got {}", kind_of(*json_)));
  if (json_->size() > kMostItems) {
    fail(format("has {} members, expected {} at most", json_->size(), kMostItems));
  }
  std::vector<Member> members;
  for (const auto& [name, value] : json_->items()) {
    members.push_back({name, Node(value, file_, format("{}.{}", key_, name))});
    if (!is_identifier(name)) members.back().node.fail("the name must be of letters, digits and _");
  }
  return members;
}

std::string Node::text() const {
  if (!json_->is_string()) fail(format("expected a text in quotes, got {}", kind_of(*json_)));
  return json_->get<std::string>();
}

bool Node::flag() const {
  if (!json_->is_boolean()) fail(format("expected true or false, got {}", kind_of(*json_)));
  return json_->get<bool>();
}

std::string Node::identifier() const {
  std::string name = text();
  if (!is_identifier(name)) {
    fail(format("\"{}\" is no name: use letters, digits and _, a letter first", name));
  }
  return name;
}

Value Node::value() const {
  if (json_->is_number_integer()) {
    if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX) {
      fail("the number is too large");
    }
    return json_->get<std::int64_t>();
  }
  if (!json_->is_string()) fail(format("expected an integer or a word, got {}", kind_of(*json_)));
  const std::string word = json_->get<std::string>();
  if (parse_value(word).is_integer())
    fail(format("\"{}\" is an integer: leave out the quotes", word));
  if (!is_identifier(word)) {
    fail(format("\"{}\" is no integer and no word (letters, digits and _, a letter first)", word));
  }
  return word;
}

Expression Node::expression(const Vocabulary& vocabulary) const {
  if (json_->is_number_integer()) return Expression::constant(value().integer());
  if (!json_->is_string()) {
    fail(format("expected an expression in quotes or an integer, got {}", kind_of(*json_)));
  }
  try {
    Expression expression = Expression::parse(json_->get<std::string>());
    check_words(*this, expression, vocabulary);
    return expression;
  } catch (const ExpressionError& error) {
    fail(error.what());
  }
}

std::vector<Expression> Node::expressions(const Vocabulary& vocabulary, std::size_t fewest,
                                          std::size_t most) const {
  std::vector<Expression> expressions;
  for (const Node& item : items(fewest, most)) expressions.push_back(item.expression(vocabulary));
  return expressions;
}

}  // namespace autotune
