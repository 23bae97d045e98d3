// SPDX-License-Identifier: Apache-2.0
// Runs compiled expressions.
#include "tuner/core/expression.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "tuner/core/expression_program.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void fail(const ExpressionProgram& program, const Instruction& at, const char* what) {
  throw ExpressionError(program.text, at.column, what);
}

/// Operations with one operand.
std::int64_t apply(const ExpressionProgram& program, const Instruction& at, std::int64_t a) {
  switch (at.op) {
    case Op::truth:
      return a != 0;
    case Op::logical_not:
      return a == 0;
    case Op::is_pow2:
      return a > 0 && (a & (a - 1)) == 0;
    case Op::negate:
      if (a == kLowest) fail(program, at, "overflow");
      return -a;
    case Op::absolute:
      if (a == kLowest) fail(program, at, "overflow");
      return a < 0 ? -a : a;
    case Op::log2:
      if (a < 1) fail(program, at, "log2 of a number below 1");
      return std::bit_width(static_cast<std::uint64_t>(a)) - 1;
    default:
      assert(false);
      return 0;
  }
}

std::int64_t quotient(const ExpressionProgram& program, const Instruction& at, std::int64_t a,
                      std::int64_t b) {
  if (b == 0) fail(program, at, "division by zero");
  if (a == kLowest && b == -1) fail(program, at, "overflow");
  return a / b;
}

std::int64_t ceil_div(const ExpressionProgram& program, const Instruction& at, std::int64_t a,
                      std::int64_t b) {
  const std::int64_t floor = quotient(program, at, a, b);
  return floor + (floor * b != a && (a < 0) == (b < 0));
}

/// Operations with two operands.
std::int64_t apply(const ExpressionProgram& program, const Instruction& at, std::int64_t a,
                   std::int64_t b) {
  std::int64_t result = 0;
  switch (at.op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &result)) fail(program, at, "overflow");
      return result;
    case Op::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail(program, at, "overflow");
      return result;
    case Op::multiply:
      if (__builtin_mul_overflow(a, b, &result)) fail(program, at, "overflow");
      return result;
    case Op::divide:
      return quotient(program, at, a, b);
    case Op::modulo:
      if (b == 0) fail(program, at, "division by zero");
      return b == -1 ? 0 : a % b;
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    case Op::minimum:
      return a < b ? a : b;
    case Op::maximum:
      return a > b ? a : b;
    case Op::ceil_div:
      return ceil_div(program, at, a, b);
    case Op::round_up:
      if (__builtin_mul_overflow(ceil_div(program, at, a, b), b, &result)) {
        fail(program, at, "overflow");
      }
      return result;
    default:
      assert(false);
      return 0;
  }
}

/// `value(i)` is that of names()[i].
template <class ValueOf>
std::int64_t run(const ExpressionProgram& program, const ValueOf& value) {
  std::int64_t stack[kStackDepth];  // the parser has checked that it suffices
  std::int64_t* top = stack;        // one past the last
  const Instruction* const begin = program.code.data();
  const Instruction* const end = begin + program.code.size();
  for (const Instruction* at = begin; at != end; ++at) {
    switch (at->op) {
      case Op::constant:
        *top++ = at->operand;
        break;
      case Op::load:
        *top++ = value(static_cast<std::size_t>(at->operand));
        break;
      case Op::jump:
        at = begin + at->operand - 1;
        break;
      case Op::jump_if_zero:
        if (*--top == 0) at = begin + at->operand - 1;
        break;
      case Op::truth:
      case Op::negate:
      case Op::logical_not:
      case Op::is_pow2:
      case Op::absolute:
      case Op::log2:
        top[-1] = apply(program, *at, top[-1]);
        break;
      default:
        --top;
        top[-1] = apply(program, *at, top[-1], top[0]);
    }
  }
  assert(top == stack + 1);
  return stack[0];
}

}  // namespace

ExpressionError::ExpressionError(const std::string& text, int column, const std::string& what)
    : Error(format("{} at column {} of \"{}\"", what, column, text)), column_(column) {}

Expression Expression::parse(std::string_view text) {
  return Expression(std::make_shared<const ExpressionProgram>(parse_expression(text)));
}

Expression Expression::constant(std::int64_t value) {
  return Expression(std::make_shared<const ExpressionProgram>(
      ExpressionProgram{std::to_string(value), {}, {}, {{Op::constant, 1, value}}}));
}

const std::string& Expression::text() const { return program_->text; }

const std::vector<std::string>& Expression::names() const { return program_->names; }

const std::vector<std::string>& Expression::words() const { return program_->words; }

int Expression::column_of(const std::string& name) const {
  const auto found = std::find(names().begin(), names().end(), name);
  if (found == names().end()) return static_cast<int>(text().find('\'' + name + '\'')) + 1;
  const auto load = std::find_if(program_->code.begin(), program_->code.end(), [&](auto& at) {
    return at.op == Op::load && at.operand == found - names().begin();
  });
  return load->column;
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
  assert(values.size() == names().size());
  return run(*program_, [&](std::size_t name) { return values[name]; });
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> slots,
                                  std::span<const std::uint32_t> slot_of) const {
  assert(slot_of.size() == names().size());
  return run(*program_, [&](std::size_t name) { return slots[slot_of[name]]; });
}

std::int64_t Expression::evaluate(
    const std::function<std::int64_t(const std::string&)>& lookup) const {
  std::vector<std::int64_t> values;
  values.reserve(names().size());
  for (const std::string& name : names()) values.push_back(lookup(name));
  return evaluate(values);
}

}  // namespace autotune
