// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression_parser.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "tuner/core/element_type.hpp"
#include "tuner/core/value.hpp"
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

// The operands of expressions: numbers, words, names, and calls of functions.

namespace {

using Takes = ExpressionFunction::Takes;
constexpr std::string_view kDevicePrefix = "device.";
constexpr ExpressionFunction kFunctions[] = {
    {"min", Op::minimum, 2, Takes::numbers, true},
    {"max", Op::maximum, 2, Takes::numbers, true},
    {"ceil_div", Op::ceil_div, 2},
    {"round_up", Op::round_up, 2},
    {"round_down", Op::round_down, 2},
    {"gcd", Op::gcd, 2, Takes::integers, true},
    {"is_pow2", Op::is_pow2, 1},
    {"abs", Op::absolute, 1, Takes::numbers},
    {"log2", Op::log2, 1},
    {"int", Op::truncate, 1, Takes::rounded},
    {"floor", Op::floor, 1, Takes::rounded},
    {"ceil", Op::ceil, 1, Takes::rounded},
    {"sqrt", Op::square_root, 1, Takes::reals},
    {"pow", Op::power, 2, Takes::reals},
};
constexpr std::string_view kBytes = "bytes";  // of an element type

std::string unknown_function(const std::string& name) {
  std::vector<std::string> names{std::string(kBytes)};
  for (const ExpressionFunction& function : kFunctions) names.emplace_back(function.name);
  return format("there is no function {} ({})", name, suggestion(name, names));
}

}  // namespace

ExpressionParser::Operand ExpressionParser::primary() {
  const std::size_t at = next_position();
  if (at == text_.size()) fail_at(at, at == 0 ? "the expression is empty" : "expected a value");
  const char first = text_[at];
  if (is_digit(first)) return literal_number();
  if (first == '\'' || first == '"') return word();
  if (is_letter(first)) return name_or_call();
  if (!accept("(")) fail_at(at, unexpected());
  Operand inner = conditional();
  inner.start = at;
  if (!accept(")")) fail_at(position_, "expected ')'");
  return inner;
}

ExpressionParser::Operand ExpressionParser::literal_number() {
  const std::size_t start = position_;
  const char* const first = text_.data() + start;
  const char* const end = text_.data() + text_.size();
  std::int64_t integer = 0;
  auto [rest, error] = std::from_chars(first, end, integer);
  const bool is_real = rest + 1 < end && *rest == '.' && is_digit(rest[1]);
  double real = 0;
  if (is_real) {
    const auto read = std::from_chars(first, end, real);
    rest = read.ptr;
    error = read.ec;
  }
  position_ = static_cast<std::size_t>(rest - text_.data());
  if (error != std::errc{}) fail_at(start, "the number is too large");
  if (rest != end && *rest == '.') fail_at(position_, "a digit follows the point of a number");
  if (rest != end && is_letter(*rest)) fail_at(position_, "a letter follows the number");
  emit(Op::constant, start, is_real ? std::bit_cast<std::int64_t>(real) : integer);
  return {is_real ? ValueKind::real : ValueKind::integer, start};
}

ExpressionParser::Operand ExpressionParser::word() {
  const std::size_t start = position_++;
  const std::size_t close = text_.find(text_[start], position_);
  if (close == std::string_view::npos) fail_at(start, "the quoted word does not end");
  const std::string word(text_.substr(position_, close - position_));
  std::vector<std::string>& words = program_.words;
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  emit(Op::constant, start, word_code(word));
  position_ = close + 1;
  return {ValueKind::word, start, {}, nullptr, word};
}

ExpressionParser::Operand ExpressionParser::name_or_call() {
  const std::size_t start = position_;
  const std::string name = identifier();
  if (accept("(")) return call(name, start);
  if (position_ < text_.size() && text_[position_] == '.') {
    fail_at(position_, "only 'device' has names with a dot");
  }
  if (name == "true" || name == "false") {
    emit(Op::constant, start, name == "true");
    return {ValueKind::integer, start};
  }
  for (const Local& local : locals_) {
    if (local.name != name) continue;
    emit(Op::copy, start, depth_ - 1 - local.at);
    Operand value = local.value;
    value.start = start;
    return value;
  }
  const NameMeaning meaning = meaning_of(name, start);
  if (meaning.function) fail_at(start, format("{} is a function: {}(…)", name, name));
  load(meaning.name, start);
  return {meaning.kind, start, name, meaning.words};
}

std::string ExpressionParser::identifier() {
  const std::size_t start = position_;
  if (text_.substr(position_).starts_with(kDevicePrefix)) position_ += kDevicePrefix.size();
  const std::size_t stem = position_;
  while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
    ++position_;
  if (position_ == stem) fail_at(stem, "expected a name after 'device.'");
  return std::string(text_.substr(start, position_ - start));
}

void ExpressionParser::load(const std::string& name, std::size_t start) {
  auto found = std::find(program_.names.begin(), program_.names.end(), name);
  if (found == program_.names.end()) found = program_.names.insert(found, name);
  emit(Op::load, start, found - program_.names.begin());
}

NameMeaning ExpressionParser::meaning_of(const std::string& name, std::size_t start) const {
  try {
    return resolver_(name);
  } catch (const NameError& error) {
    fail_at(start, error.what());
  }
}

ExpressionParser::Operand ExpressionParser::call(const std::string& name, std::size_t start) {
  if (name == kBytes) return bytes(start);
  const ExpressionFunction* const function = std::find_if(
      std::begin(kFunctions), std::end(kFunctions), [&](auto& f) { return f.name == name; });
  if (function == std::end(kFunctions)) return call_of_manifest(name, start);
  int arguments = 0;
  Operand value;
  do {
    const Operand next = argument(*function, start);
    value = ++arguments == 1 ? next : Operand{two(*function, start, value, next), start};
  } while ((function->more || arguments < function->arguments) && accept(","));
  const bool closed = accept(")");
  if (arguments < function->arguments || !closed) {
    const bool too_many = !closed && next_position() < text_.size() && text_[position_] == ',';
    if (!closed && !too_many) fail_at(position_, "expected ')'");
    fail_at(start, format("{} takes {}{} argument{}", name, function->arguments,
                          function->more ? " or more" : "", function->arguments == 1 ? "" : "s"));
  }
  if (function->arguments == 1) value.kind = one(*function, start, value.kind);
  return {value.kind == ValueKind::any ? ValueKind::integer : value.kind, start};
}

ExpressionParser::Operand ExpressionParser::argument(const ExpressionFunction& function,
                                                     std::size_t at) {
  const Operand value = conditional();
  if (function.takes == Takes::integers) {
    require_integer(value);
  } else {
    require_number(value);
  }
  if (function.takes == Takes::reals && value.is_integer()) emit(Op::to_real, at);
  return value;
}

ValueKind ExpressionParser::one(const ExpressionFunction& function, std::size_t at,
                                ValueKind kind) {
  const bool real = kind == ValueKind::real;
  if (function.takes == Takes::rounded && !real) return kind;
  emit(function.takes == Takes::numbers && real ? *real_version(function.op) : function.op, at);
  if (function.takes == Takes::reals) return ValueKind::real;
  return function.takes == Takes::numbers ? kind : ValueKind::integer;
}

ValueKind ExpressionParser::two(const ExpressionFunction& function, std::size_t at,
                                const Operand& a, const Operand& b) {
  if (function.takes != Takes::reals) return combine(function.op, at, a, b);
  emit(function.op, at);
  return ValueKind::real;
}

/// bytes('f32'), bytes(dtype).
ExpressionParser::Operand ExpressionParser::bytes(std::size_t start) {
  const std::size_t at = next_position();
  if (at < text_.size() && (text_[at] == '\'' || text_[at] == '"')) {
    const Operand type = word();
    const auto element = element_type(*type.literal);
    if (!element) fail_at(at, unknown_type(*type.literal));
    program_.code.back().operand = bytes_of(*element);
  } else if (at < text_.size() && is_letter(text_[at])) {
    load(meaning_of(identifier() + "_bytes", at).name, at);
  } else {
    fail_at(at, "bytes takes an element type, 'f32', or a setting of such");
  }
  if (!accept(")")) fail_at(next_position(), "expected ')'");
  return {ValueKind::integer, start};
}

/// A call of a function of the manifest: its body is compiled inline, with the arguments below it
/// on the stack.
ExpressionParser::Operand ExpressionParser::call_of_manifest(const std::string& name,
                                                             std::size_t start) {
  const auto function = meaning_of(name, start).function;
  if (!function) fail_at(start, unknown_function(name));
  if (std::find(calls_.begin(), calls_.end(), name) != calls_.end()) {
    fail_at(start, format("{} calls itself", name));
  }
  std::vector<Local> locals;
  do {
    const int at = depth_;
    Operand value = conditional();
    value.literal.reset();
    const std::size_t index = locals.size();
    const bool known = index < function->parameters.size();
    locals.push_back({known ? function->parameters[index] : "", at, value});
  } while (accept(","));
  if (!accept(")")) fail_at(next_position(), "expected ')'");
  const std::size_t wanted = function->parameters.size();
  if (locals.size() != wanted) {
    fail_at(start, format("{} takes {}", name, count_text(wanted, "argument")));
  }
  const auto count = static_cast<std::int64_t>(locals.size());
  Operand result = body_of(*function, name, start, std::move(locals));
  emit(Op::drop_below, start, count);
  return result;
}

ExpressionParser::Operand ExpressionParser::body_of(const FunctionText& function,
                                                    const std::string& name, std::size_t start,
                                                    std::vector<Local> locals) {
  const std::string_view text = std::exchange(text_, function.body);
  const std::size_t position = std::exchange(position_, 0);
  const auto site = std::exchange(call_site_, call_site_.value_or(start));
  locals_.swap(locals);
  calls_.push_back(name);
  Operand result = whole();
  if (result.literal) refuse(result);
  calls_.pop_back();
  locals_.swap(locals);
  call_site_ = site;
  position_ = position;
  text_ = text;
  return {result.kind, start};
}

}  // namespace autotune
