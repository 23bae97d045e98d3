// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression_parser.hpp"

#include <algorithm>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kLongestText = 10000;
constexpr std::size_t kMostInstructions = 20000;  // functions expanded
constexpr int kDeepestNesting = 400;              // four rules count

}  // namespace

ExpressionParser::ExpressionParser(std::string_view text, const NameResolver& resolver)
    : resolver_(resolver), text_(text) {
  program_.text = text;
}

ExpressionProgram ExpressionParser::parse() {
  if (text_.size() > kLongestText) fail_at(kLongestText, "the expression is too long");
  const Operand result = whole();
  if (result.literal) refuse(result);
  program_.kind = result.kind == ValueKind::any ? ValueKind::integer : result.kind;
  return std::move(program_);
}

ExpressionParser::Operand ExpressionParser::whole() {
  Operand result = conditional();
  skip_spaces();
  if (position_ < text_.size()) fail_at(position_, unexpected());
  return result;
}

ExpressionParser::Operand ExpressionParser::number(Rule rule) {
  const Operand value = (this->*rule)();
  require_number(value);
  return value;
}

void ExpressionParser::require_number(const Operand& value) const {
  if (!value.is_number()) refuse(value);
}

void ExpressionParser::require_integer(const Operand& value) const {
  require_number(value);
  if (value.kind == ValueKind::real) fail_at(value.start, kNoInteger);
}

void ExpressionParser::require_truth(const Operand& value) const {
  require_number(value);
  if (value.kind == ValueKind::real) {
    fail_at(value.start, "a real number is neither true nor false: compare it");
  }
}

void ExpressionParser::require_comparable(const Operand& left, const Operand& right) const {
  const bool words = left.is_word() && right.is_word();
  if (!words && !(left.is_number() && right.is_number())) {
    if (!left.is_word() && !left.is_number()) refuse(left);
    if (!right.is_word() && !right.is_number()) refuse(right);
    fail_at(right.start, "a word is compared with words only");
  }
  if (left.literal && right.words) require_word(left, right);
  if (right.literal && left.words) require_word(right, left);
}

void ExpressionParser::require_word(const Operand& literal, const Operand& named) const {
  const std::vector<std::string>& words = *named.words;
  if (std::find(words.begin(), words.end(), *literal.literal) != words.end()) return;
  fail_at(literal.start, format("there is no {} '{}' ({})", named.name, *literal.literal,
                                suggestion(*literal.literal, words)));
}

void ExpressionParser::skip_spaces() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++position_;
    } else {
      return;
    }
  }
}

std::size_t ExpressionParser::next_position() {
  skip_spaces();
  return position_;
}

bool ExpressionParser::accept(std::string_view sign) {
  skip_spaces();
  if (!text_.substr(position_).starts_with(sign)) return false;
  position_ += sign.size();
  return true;
}

bool ExpressionParser::accept_word(std::string_view word) {
  skip_spaces();
  const std::size_t end = position_ + word.size();
  if (!text_.substr(position_).starts_with(word)) return false;
  if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
  position_ = end;
  return true;
}

std::size_t ExpressionParser::emit(Op op, std::size_t at, std::int64_t operand) {
  if (op == Op::constant || op == Op::load || op == Op::copy) ++depth_;
  if (op == Op::jump_if_zero || op >= Op::add) --depth_;
  if (op == Op::drop_below) depth_ -= static_cast<int>(operand);
  if (depth_ > kStackDepth) fail_at(at, "the expression is nested too deeply");
  if (program_.code.size() >= kMostInstructions) {
    fail_at(at, "the expression is too long with its functions written out");
  }
  const std::size_t column = call_site_.value_or(at) + 1;
  program_.code.push_back({op, static_cast<std::int32_t>(column), operand});
  return program_.code.size() - 1;
}

/// Sets the target of a jump to the next instruction.
void ExpressionParser::land(std::size_t jump) {
  program_.code[jump].operand = static_cast<std::int64_t>(program_.code.size());
}

std::string ExpressionParser::unexpected() const {
  const char sign = text_[position_];
  if (sign == '=') return "'=' is not an operator, '==' compares";
  if (sign == '&' || sign == '|')
    return format("'{}' is not an operator, '{}{}' is", sign, sign, sign);
  if (sign < ' ' || sign > '~') return "an unexpected character";
  return format("unexpected '{}'", sign);
}

/// Throws for an operand that is not a number.
void ExpressionParser::refuse(const Operand& value) const {
  if (value.kind == ValueKind::handle) {
    fail_at(value.start, format("{} is not a number: a buffer or tensor map is passed as it is, or "
                                "chosen by '? :'",
                                value.name.empty() ? "this" : value.name));
  }
  fail_at(value.start, value.literal ? "a quoted word can only be compared with == and !="
                                     : format("{} holds a word, which can only be compared",
                                              value.name.empty() ? "this" : value.name));
}

/// Mistakes in the body of a function are reported at its call.
void ExpressionParser::fail_at(std::size_t position, const std::string& what) const {
  if (!call_site_) {
    throw ExpressionError(program_.text, static_cast<int>(position) + 1, what);
  }
  throw ExpressionError(program_.text, static_cast<int>(*call_site_) + 1,
                        format("in {}(): {}", calls_.back(), what));
}

ExpressionParser::Nesting::Nesting(ExpressionParser& of) : parser(of) {
  if (++parser.nesting_ > kDeepestNesting) {
    parser.fail_at(parser.position_, "the expression is nested too deeply");
  }
}

bool ExpressionParser::is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

ExpressionProgram parse_expression(std::string_view text, const NameResolver& resolver) {
  return ExpressionParser(text, resolver).parse();
}

}  // namespace autotune
