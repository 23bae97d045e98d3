// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/python_translation.hpp"

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Kind = PythonNode::Kind;

constexpr int kDeepestNesting = 100;
constexpr std::size_t kLongestText = 10000;
constexpr int kMostOperators = 500;  // each makes the tree a level deeper

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// One function per rule of the grammar, loosest binding first.
class PythonParser {
 public:
  explicit PythonParser(std::string_view text) : text_(text) {}

  PythonNode whole() {
    if (text_.size() > kLongestText) fail("the expression is too long");
    PythonNode node = conditional();
    if (!at_end()) fail(format("unexpected \"{}\"", text_.substr(at_, 8)));
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(format("column {}: {}", at_ + 1, what));
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool at_end() {
    skip_spaces();
    return at_ == text_.size();
  }
  bool sees(std::string_view sign) {
    skip_spaces();
    return text_.substr(at_).starts_with(sign);
  }
  bool accept(std::string_view sign) {
    if (!sees(sign)) return false;
    at_ += sign.size();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!sees(word)) return false;
    const std::size_t end = at_ + word.size();
    if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    at_ = end;
    return true;
  }
  PythonNode joined(Kind kind, const char* sign, PythonNode left, PythonNode right) {
    if (++operators_ > kMostOperators) fail("the expression has too many operators");
    return {kind, sign, {std::move(left), std::move(right)}};
  }
  void expect(std::string_view sign) {
    if (!accept(sign)) fail(format("\"{}\" is missing", sign));
  }

  PythonNode conditional() {
    if (++depth_ > kDeepestNesting) fail("the expression is nested too deeply");
    if (accept_word("lambda")) fail("lambda is a function, not an expression");
    PythonNode node = logical("or");
    if (accept_word("if")) {
      PythonNode when = logical("or");
      if (!accept_word("else")) fail("\"else\" is missing");
      PythonNode otherwise = conditional();
      node = {Kind::conditional, "", {std::move(node), std::move(when), std::move(otherwise)}};
    }
    --depth_;
    return node;
  }

  PythonNode logical(const char* word) {
    const auto tighter = [&] {
      return word == std::string_view("or") ? logical("and") : negation();
    };
    PythonNode node = tighter();
    while (accept_word(word)) {
      PythonNode right = tighter();
      node = joined(Kind::logical, word, std::move(node), std::move(right));
    }
    return node;
  }

  PythonNode negation() {
    if (++depth_ > kDeepestNesting) fail("the expression is nested too deeply");
    PythonNode node =
        accept_word("not") ? PythonNode{Kind::unary, "not", {negation()}} : comparison();
    --depth_;
    return node;
  }

  std::string comparison_operator() {
    for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!sees("<<") && !sees(">>") && accept(sign)) return sign;
    }
    if (accept_word("in")) return "in";
    const std::size_t before = at_;
    if (accept_word("not") && accept_word("in")) return "not in";
    at_ = before;
    if (accept_word("is")) fail("write == for is");
    return "";
  }

  PythonNode comparison() {
    PythonNode node{Kind::comparison, "", {sum()}};
    for (std::string sign = comparison_operator(); !sign.empty(); sign = comparison_operator()) {
      node.operators.push_back(std::move(sign));
      node.children.push_back(sum());
    }
    if (node.children.size() > 1) return node;
    PythonNode only = std::move(node.children.front());
    return only;
  }

  PythonNode sum() {
    PythonNode node = product();
    while (true) {
      const char* sign = accept("+") ? "+" : accept("-") ? "-" : nullptr;
      if (!sign) break;
      PythonNode right = product();
      node = joined(Kind::binary, sign, std::move(node), std::move(right));
    }
    for (const char* sign : {"<<", ">>", "&", "|", "^"}) {
      if (sees(sign)) fail(format("\"{}\" works on bits, which expressions here do not", sign));
    }
    return node;
  }

  PythonNode product() {
    PythonNode node = signed_operand();
    while (true) {
      const char* sign = accept("//")                 ? "//"
                         : accept("/")                ? "/"
                         : accept("%")                ? "%"
                         : !sees("**") && accept("*") ? "*"
                                                      : nullptr;
      if (!sign) return node;
      PythonNode right = signed_operand();
      node = joined(Kind::binary, sign, std::move(node), std::move(right));
    }
  }

  PythonNode signed_operand() {
    if (++depth_ > kDeepestNesting) fail("the expression is nested too deeply");
    PythonNode node;
    if (accept("-")) {
      node = {Kind::unary, "-", {signed_operand()}};
    } else if (accept("+")) {
      node = signed_operand();
    } else {
      node = power();
    }
    --depth_;
    return node;
  }

  PythonNode power() {
    PythonNode node = atom();
    if (!accept("**")) return node;
    PythonNode exponent = signed_operand();
    return {Kind::binary, "**", {std::move(node), std::move(exponent)}};
  }

  PythonNode atom() {
    skip_spaces();
    if (at_ == text_.size()) fail("the expression ends early");
    const char c = text_[at_];
    if (is_digit(c) || c == '.') return number();
    if (c == '\'' || c == '"') return literal(c);
    if (is_letter(c)) return named();
    if (accept("[")) return list("]");
    if (accept("(")) return parenthesis();
    fail(format("unexpected \"{}\"", text_.substr(at_, 8)));
  }

  PythonNode number() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+')) ++at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    }
    if (at_ < text_.size() && is_letter(text_[at_])) fail("not a number");
    std::string digits(text_.substr(start, at_ - start));
    const bool is_real = digits.find_first_of(".eE") != std::string::npos;
    return {is_real ? Kind::real : Kind::integer, std::move(digits)};
  }

  PythonNode literal(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("the text has no end");
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    if (text.find('\\') != text.npos) fail("\\ in a string is not supported");
    at_ = end + 1;
    return {Kind::text, std::move(text)};
  }

  PythonNode named() {
    skip_spaces();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string name(text_.substr(start, at_ - start));
    if (name == "True" || name == "False") return {Kind::integer, name == "True" ? "1" : "0"};
    if (sees(".")) fail("attributes (a.b) are not supported");
    if (accept("(")) return {Kind::call, std::move(name), list(")").children};
    if (!accept("[")) return {Kind::name, std::move(name)};
    PythonNode place = conditional();
    expect("]");
    return {Kind::index, std::move(name), {std::move(place)}};
  }

  /// The list or the arguments up to `end`.
  PythonNode list(std::string_view end) {
    PythonNode node{Kind::list};
    while (!accept(end)) {
      node.children.push_back(conditional());
      if (node.children.size() == 1 && accept_word("for")) {
        return generator(std::move(node.children.front()), end);
      }
      if (!sees(end)) expect(",");
    }
    return node;
  }

  PythonNode generator(PythonNode item, std::string_view end) {
    PythonNode variable = named();
    if (variable.kind != Kind::name) fail("the name of a variable is expected");
    if (!accept_word("in")) fail("\"in\" is missing");
    PythonNode node{Kind::generator, variable.text, {std::move(item)}};
    node.children.push_back(logical("or"));
    if (accept_word("if")) node.children.push_back(logical("or"));
    expect(end);
    return {Kind::list, "", {std::move(node)}};
  }

  PythonNode parenthesis() {
    PythonNode first = conditional();
    if (accept(")")) return first;
    PythonNode tuple{Kind::list, "", {std::move(first)}};
    expect(",");
    for (PythonNode& more : list(")").children) tuple.children.push_back(std::move(more));
    return tuple;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0, operators_ = 0;
};

}  // namespace

PythonNode parse_python(std::string_view text) { return PythonParser(text).whole(); }

}  // namespace autotune
