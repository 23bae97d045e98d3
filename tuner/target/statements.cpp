// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/statements.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostStatements = 2000;

/// Splits the text of a block where a statement ends.
class Splitter {
 public:
  explicit Splitter(const Node& node) : node_(node), text_(node.text()) {}

  std::vector<Excerpt> split() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_comment();
      } else if (c == '\'' || c == '"') {
        skip_word(c);
      } else if (c == ';' || (c == '\n' && !continues())) {
        finish();
        start_ = ++at_;
      } else {
        is_empty_ = is_empty_ && (c == ' ' || c == '\t' || c == '\n' || c == '\r');
        ++at_;
      }
    }
    finish();
    return std::move(statements_);
  }

 private:
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_word(char quote) {
    is_empty_ = false;
    const std::size_t end = text_.find(quote, at_ + 1);
    at_ = end == std::string::npos ? text_.size() : end + 1;
  }

  /// Whether the line below is indented and not empty.
  bool continues() const {
    std::size_t next = at_ + 1;
    while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t')) ++next;
    if (next == text_.size() || next == at_ + 1) return false;
    return text_[next] != '\n' && text_[next] != '\r' && !is_empty_;
  }

  void finish() {
    if (!is_empty_) {
      std::size_t start = start_;
      for (;;) {  // past space and whole-line comments
        while (start < at_ && (text_[start] == ' ' || text_[start] == '\t' ||
                               text_[start] == '\n' || text_[start] == '\r')) {
          ++start;
        }
        if (text_[start] != '#') break;
        start = text_.find('\n', start);
      }
      if (statements_.size() == kMostStatements) {  // each holds the text
        node_.fail(
            format("has more than {} statements: leave out what nothing names", kMostStatements));
      }
      statements_.push_back({text_.substr(start, at_ - start), node_, start});
    }
    is_empty_ = true;
  }

  const Node& node_;
  const std::string text_;
  std::size_t at_ = 0, start_ = 0;
  bool is_empty_ = true;  // so far
  std::vector<Excerpt> statements_;
};

/// Finds the `and` and `implies` of an expression outside of parentheses.
class Joints {
 public:
  explicit Joints(std::string_view text) : text_(text) {
    while (at_ < text_.size()) step();
  }

  std::vector<std::pair<std::size_t, std::size_t>> ands;  // from, to
  std::optional<std::pair<std::size_t, std::size_t>> implies;
  bool are_looser = false;  // `or`, `? :`, or a second `implies`

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\'' || c == '"') {
      at_ = std::min(text_.find(c, at_ + 1), text_.size() - 1) + 1;
    } else if (is_in_identifier(c)) {
      read_word();
    } else {
      depth_ += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      const std::string_view sign = text_.substr(at_, 2);
      if (depth_ == 0 && (c == '?' || sign == "||")) are_looser = true;
      if (depth_ == 0 && sign == "&&") ands.emplace_back(at_, at_ + 2);
      at_ += sign == "&&" || sign == "||" ? 2 : 1;
    }
  }

  void read_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_in_identifier(text_[at_])) ++at_;
    if (depth_ > 0) return;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "and") ands.emplace_back(start, at_);
    if (word == "or" || (word == "implies" && implies)) are_looser = true;
    if (word == "implies") implies = {start, at_};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// The position of a definition's `=`: the first that is not part of another operator.
std::size_t equals_of(const std::string& text) {
  for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    const bool doubled = at + 1 < text.size() && text[at + 1] == '=';
    const char before = at == 0 ? ' ' : text[at - 1];
    if (!doubled && before != '=' && before != '!' && before != '<' && before != '>') return at;
    if (doubled) ++at;
  }
  return std::string::npos;
}

Definition definition_of(const Excerpt& statement) {
  const std::size_t equals = equals_of(statement.text);
  if (equals == std::string::npos) statement.fail("expected NAME = EXPRESSION");
  const std::string left(trimmed(std::string_view(statement.text).substr(0, equals)));
  const std::size_t open = left.find('(');
  Definition definition{
      std::string(trimmed(std::string_view(left).substr(0, open))), {}, statement};
  definition.value.text.erase(0, equals + 1);
  definition.value.offset += equals + 1;
  if (!is_identifier(definition.name)) {
    statement.fail(
        format("\"{}\" is not a name: use letters, digits and _, a letter first", definition.name));
  }
  if (open == std::string::npos) return definition;
  if (left.back() != ')') statement.fail("expected ')' before the '='");
  std::string list = left.substr(open + 1, left.size() - open - 2) + ",";
  for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',')) {
    definition.parameters.emplace_back(trimmed(std::string_view(list).substr(0, comma)));
    list.erase(0, comma + 1);
    if (!is_identifier(definition.parameters.back())) {
      statement.fail(format("{}() needs names for its parameters", definition.name));
    }
  }
  return definition;
}

/// A real number as expressions read it, with a digit after the point: `1.0e-06`.
std::string text_of(double real) {
  std::string text = format("{:#}", real);
  const std::size_t point = text.find('.');
  if (point != std::string::npos && text.substr(point + 1).starts_with('e')) {
    text.insert(point + 1, "0");
  }
  return text;
}

}  // namespace

void Excerpt::fail(const ExpressionError& error) const {
  if (!node.has_place()) node.fail(error.what());
  node.fail_at(offset + static_cast<std::size_t>(error.column()) - 1, error.reason());
}

void Excerpt::fail(std::string_view what) const { node.fail_at(offset, what); }

Excerpt excerpt_of(const Node& node) {
  switch (node.kind()) {
    case Node::Kind::integer:
      return {std::to_string(node.integer()), node, 0};
    case Node::Kind::real:
      return {text_of(node.real()), node, 0};
    case Node::Kind::flag:
      return {node.flag() ? "1" : "0", node, 0};
    case Node::Kind::text:
      return {node.text(), node, 0};
    default:
      node.fail("expected an expression in quotes or a number");
  }
}

std::vector<Excerpt> statements_of(const Node& node) {
  if (!node.is(Node::Kind::list)) return Splitter(node).split();
  std::vector<Excerpt> statements;
  for (const Node& item : node.items(0, kMostStatements)) statements.push_back(excerpt_of(item));
  return statements;
}

std::vector<std::string> conjuncts_of(const std::string& text) {
  const Joints joints(text);
  if (joints.are_looser) return {text};
  const std::size_t start = joints.implies ? joints.implies->second : 0;
  const std::string condition = text.substr(0, start);
  std::vector<std::string> conjuncts;
  std::size_t from = start;
  for (const auto& [end, next] : joints.ands) {
    if (end < start) continue;  // of the condition
    conjuncts.push_back(condition + text.substr(from, end - from));
    from = next;
  }
  conjuncts.push_back(condition + text.substr(from));
  return conjuncts;
}

std::vector<Definition> definitions_of(const Node& node) {
  std::vector<Definition> definitions;
  if (node.is(Node::Kind::table)) {
    for (const auto& [name, value] : node.members()) {
      definitions.push_back({name, {}, excerpt_of(value)});
    }
  } else {
    for (const Excerpt& each : statements_of(node)) definitions.push_back(definition_of(each));
  }
  return definitions;
}

}  // namespace autotune
