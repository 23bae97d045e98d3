// SPDX-License-Identifier: Apache-2.0
// The operators of expressions, from the loosest to the tightest.
#include "tuner/core/expression_parser.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr ExpressionOperator kEqualities[] = {{"==", Op::equal}, {"!=", Op::not_equal}};
constexpr ExpressionOperator kRelations[] = {  // longer signs first
    {"<=", Op::less_equal},
    {">=", Op::greater_equal},
    {"<", Op::less},
    {">", Op::greater}};
constexpr ExpressionOperator kSums[] = {{"+", Op::add}, {"-", Op::subtract}};
constexpr ExpressionOperator kProducts[] = {
    {"*", Op::multiply}, {"/", Op::divide}, {"%", Op::modulo}};

/// Operators of Python and C that people write, with what to write instead.
struct ForeignOperator {
  std::string_view sign, advice;
};
constexpr ForeignOperator kForeign[] = {{"//", "'/' divides integers as C does"},
                                        {"**", "pow(a, b) is a power"},
                                        {"^", "pow(a, b) is a power"},
                                        {"<<", "multiply by a power of two"},
                                        {">>", "divide by a power of two"},
                                        {"if ", "write condition ? a : b"}};

bool is_rising(Op relation) { return relation == Op::less || relation == Op::less_equal; }
bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }

}  // namespace

std::optional<Op> real_version(Op op) {
  if (op == Op::negate) return Op::negate_real;
  if (op == Op::absolute) return Op::absolute_real;
  if (op >= Op::add && op <= Op::divide) return Op(int(Op::add_real) + int(op) - int(Op::add));
  if (op >= Op::less && op <= Op::maximum) return Op(int(Op::less_real) + int(op) - int(Op::less));
  return std::nullopt;
}

ExpressionParser::Operand ExpressionParser::conditional() {
  const Nesting nesting(*this);
  const Operand condition = implication();
  const std::size_t sign = next_position();
  if (!accept("?")) return condition;
  require_truth(condition);
  const std::size_t to_else = emit(Op::jump_if_zero, sign);
  const Operand yes = conditional();
  const std::size_t convert = emit(Op::keep, sign);  // becomes to_real if `no` is real
  const std::size_t to_end = emit(Op::jump, sign);
  if (!accept(":")) fail_at(position_, "expected ':' of the '?'");
  land(to_else);
  --depth_;  // only one side runs
  const Operand no = conditional();
  const ValueKind kind = common_kind(yes, no);
  if (kind == ValueKind::real && yes.is_integer()) program_.code[convert].op = Op::to_real;
  if (kind == ValueKind::real && no.is_integer()) emit(Op::to_real, sign);
  land(to_end);
  return {kind, condition.start};
}

ValueKind ExpressionParser::common_kind(const Operand& yes, const Operand& no) const {
  if (yes.kind == ValueKind::handle || no.kind == ValueKind::handle) {
    if (yes.kind != no.kind) refuse(yes.kind == ValueKind::handle ? yes : no);
    return ValueKind::handle;
  }
  if (yes.kind == ValueKind::word && no.kind == ValueKind::word) return ValueKind::word;
  require_number(yes);
  require_number(no);
  const bool real = yes.kind == ValueKind::real || no.kind == ValueKind::real;
  return real ? ValueKind::real : ValueKind::integer;
}

/// `a implies b` as a ? truth(b) : 1.
ExpressionParser::Operand ExpressionParser::implication() {
  const Nesting nesting(*this);
  const Operand left = either();
  const std::size_t at = next_position();
  if (!accept_word("implies")) return left;
  require_truth(left);
  const std::size_t to_one = emit(Op::jump_if_zero, at);
  truth_of(&ExpressionParser::implication, at);
  const std::size_t to_end = emit(Op::jump, at);
  land(to_one);
  --depth_;
  emit(Op::constant, at, 1);
  land(to_end);
  return {ValueKind::integer, left.start};
}

ExpressionParser::Operand ExpressionParser::either() {
  return logical(&ExpressionParser::both, "||", "or", false);
}

ExpressionParser::Operand ExpressionParser::both() {
  return logical(&ExpressionParser::negation, "&&", "and", true);
}

/// `a && b` as a ? truth(b) : 0, and `a || b` as a ? 1 : truth(b).
ExpressionParser::Operand ExpressionParser::logical(Rule operand, std::string_view sign,
                                                    std::string_view word, bool is_and) {
  Operand left = (this->*operand)();
  for (std::size_t at = next_position(); accept(sign) || accept_word(word); at = next_position()) {
    require_truth(left);
    const std::size_t to_zero = emit(Op::jump_if_zero, at);
    if (!is_and) emit(Op::constant, at, 1);
    if (is_and) truth_of(operand, at);
    const std::size_t to_end = emit(Op::jump, at);
    land(to_zero);
    --depth_;
    if (is_and) emit(Op::constant, at, 0);
    if (!is_and) truth_of(operand, at);
    land(to_end);
    left = {ValueKind::integer, left.start};
  }
  return left;
}

void ExpressionParser::truth_of(Rule operand, std::size_t at) {
  require_truth((this->*operand)());
  emit(Op::truth, at);
}

ExpressionParser::Operand ExpressionParser::negation() {
  const Nesting nesting(*this);
  const std::size_t at = next_position();
  if (!accept_word("not")) return equality();
  require_truth(negation());
  emit(Op::logical_not, at);
  return {ValueKind::integer, at};
}

ExpressionParser::Operand ExpressionParser::equality() {
  const Operand left = relation();
  const std::size_t at = next_position();
  const std::optional<Op> op = accept_any(kEqualities);
  if (!op) return left;
  const Operand right = relation();
  require_comparable(left, right);
  combine(*op, at, left, right);
  const std::size_t next = next_position();
  if (accept_any(kEqualities)) fail_at(next, "== does not chain: join comparisons with 'and'");
  return {ValueKind::integer, left.start};
}

/// `a <= b < c` is a <= b and b < c, with b evaluated once.
ExpressionParser::Operand ExpressionParser::relation() {
  Operand left = membership();
  std::size_t at = next_position();
  std::optional<Op> op = accept_any(kRelations);
  if (!op) return left;
  const std::size_t start = left.start;
  require_number(left);
  Operand right = number(&ExpressionParser::membership);
  std::vector<std::size_t> to_zero;
  for (std::size_t next = next_position(); const auto more = accept_any(kRelations);
       next = next_position()) {
    if (is_rising(*more) != is_rising(*op)) {
      fail_at(next, "comparisons do not chain in two directions: join them with 'and'");
    }
    emit(Op::copy, at, 1);
    emit(Op::copy, at, 1);
    combine(*op, at, left, right);
    to_zero.push_back(emit(Op::jump_if_zero, at));
    emit(Op::drop_below, at, 1);
    left = right;
    at = next;
    op = more;
    right = number(&ExpressionParser::membership);
  }
  combine(*op, at, left, right);
  if (!to_zero.empty()) {
    const std::size_t to_end = emit(Op::jump, at);
    for (const std::size_t jump : to_zero) land(jump);
    ++depth_;  // the two values that were compared
    emit(Op::constant, at, 0);
    emit(Op::drop_below, at, 2);
    land(to_end);
  }
  return {ValueKind::integer, start};
}

ExpressionParser::Operand ExpressionParser::membership() {
  const Operand left = sum();
  const std::size_t at = next_position();
  const bool is_not = accept_word("not") && (next_position(), accept_word("in"));
  if (!is_not) {
    position_ = at;
    if (!accept_word("in")) return left;
  }
  emit(Op::constant, at, 0);
  if (!accept("[")) fail_at(next_position(), "expected a list: x in [1, 2]");
  do {
    emit(Op::copy, at, 1);
    const Operand item = conditional();
    require_comparable(left, item);
    combine(Op::equal, at, left, item);
    emit(Op::either, at);
  } while (accept(","));
  if (!accept("]")) fail_at(next_position(), "expected ']'");
  emit(Op::drop_below, at, 1);
  if (is_not) emit(Op::logical_not, at);
  return {ValueKind::integer, left.start};
}

ExpressionParser::Operand ExpressionParser::sum() {
  return left_associative(&ExpressionParser::product, kSums);
}

ExpressionParser::Operand ExpressionParser::product() {
  return left_associative(&ExpressionParser::unary, kProducts);
}

ExpressionParser::Operand ExpressionParser::left_associative(
    Rule operand, std::span<const ExpressionOperator> operators) {
  Operand left = (this->*operand)();
  for (;;) {
    const std::size_t at = next_position();
    refuse_foreign_operators(at);
    const std::optional<Op> op = accept_any(operators);
    if (!op) return left;
    require_number(left);
    left = {combine(*op, at, left, number(operand)), left.start};
  }
}

/// Emits an operation on two numbers, or a comparison. If one operand is real, both become real.
ValueKind ExpressionParser::combine(Op op, std::size_t at, const Operand& left,
                                    const Operand& right) {
  const bool left_real = left.kind == ValueKind::real, right_real = right.kind == ValueKind::real;
  if (!left_real && !right_real) {
    emit(op, at);
    return ValueKind::integer;
  }
  const std::optional<Op> real = real_version(op);
  if (!real) fail_at(at, "real numbers have no such operation: int() makes an integer");
  if (!left_real) emit(Op::to_real_below, at);
  if (!right_real) emit(Op::to_real, at);
  emit(*real, at);
  return is_comparison(op) ? ValueKind::integer : ValueKind::real;
}

ExpressionParser::Operand ExpressionParser::unary() {
  const Nesting nesting(*this);
  const std::size_t at = next_position();
  const bool is_not = !text_.substr(at).starts_with("!=") && accept("!");
  if (!is_not && !accept("-")) return primary();
  const Operand operand = unary();
  if (is_not) {
    require_truth(operand);
    emit(Op::logical_not, at);
    return {ValueKind::integer, at};
  }
  require_number(operand);
  const bool real = operand.kind == ValueKind::real;
  emit(real ? Op::negate_real : Op::negate, at);
  return {real ? ValueKind::real : ValueKind::integer, at};
}

void ExpressionParser::refuse_foreign_operators(std::size_t at) const {
  const std::string_view rest = text_.substr(at);
  for (const auto& [sign, advice] : kForeign) {
    if (!rest.starts_with(sign)) continue;
    fail_at(at, format("'{}' is not an operator: {}", trimmed(sign), advice));
  }
}

std::optional<Op> ExpressionParser::accept_any(std::span<const ExpressionOperator> operators) {
  for (const ExpressionOperator& each : operators) {
    if (accept(each.sign)) return each.op;
  }
  return std::nullopt;
}

}  // namespace autotune
