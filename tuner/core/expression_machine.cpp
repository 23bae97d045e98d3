// SPDX-License-Identifier: Apache-2.0
// The stack machine that runs compiled expressions. It does not throw, because building a space may
// meet many divisions by zero.
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuner/core/expression_program.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr const char* kOverflow = "overflow";
constexpr const char* kMissing = "a value that cannot be computed";

double real_of(std::int64_t bits) { return std::bit_cast<double>(bits); }
std::int64_t bits_of(double value) { return std::bit_cast<std::int64_t>(value); }

/// Sets `value` unless the number is beyond 64 bits.
const char* integral(double real, std::int64_t& value) {
  if (!(std::abs(real) < 0x1p63)) return kOverflow;
  value = static_cast<std::int64_t>(real);
  return nullptr;
}

/// Operations with one operand, in place. Returns nullptr, or the error message.
const char* apply(Op op, std::int64_t& a) {
  switch (op) {
    case Op::truth:
      a = a != 0;
      return nullptr;
    case Op::logical_not:
      a = a == 0;
      return nullptr;
    case Op::is_pow2:
      a = a > 0 && (a & (a - 1)) == 0;
      return nullptr;
    case Op::negate:
    case Op::absolute:
      if (a == kLowest) return kOverflow;
      a = op == Op::negate || a < 0 ? -a : a;
      return nullptr;
    case Op::log2:
      if (a < 1) return "log2 of a number below 1";
      a = std::bit_width(static_cast<std::uint64_t>(a)) - 1;
      return nullptr;
    case Op::to_real:
      a = bits_of(static_cast<double>(a));
      return nullptr;
    case Op::negate_real:
      a = bits_of(-real_of(a));
      return nullptr;
    case Op::absolute_real:
      a = bits_of(std::abs(real_of(a)));
      return nullptr;
    case Op::truncate:
      return integral(std::trunc(real_of(a)), a);
    case Op::floor:
      return integral(std::floor(real_of(a)), a);
    case Op::ceil:
      return integral(std::ceil(real_of(a)), a);
    case Op::square_root:
      if (real_of(a) < 0) return "sqrt of a number below 0";
      a = bits_of(std::sqrt(real_of(a)));
      return nullptr;
    default:
      assert(false);
      return nullptr;
  }
}

const char* quotient(std::int64_t& a, std::int64_t b) {
  if (b == 0) return "division by zero";
  if (a == kLowest && b == -1) return kOverflow;
  a /= b;
  return nullptr;
}

/// a / b, rounded down or up.
const char* rounded_quotient(std::int64_t& a, std::int64_t b, bool up) {
  const std::int64_t dividend = a;
  if (const char* const wrong = quotient(a, b)) return wrong;
  if (a * b != dividend) {
    const bool truncated_down = (dividend < 0) == (b < 0);
    if (up == truncated_down) a += up ? 1 : -1;
  }
  return nullptr;
}

const char* multiple(std::int64_t& a, std::int64_t b, bool up) {
  if (const char* const wrong = rounded_quotient(a, b, up)) return wrong;
  return __builtin_mul_overflow(a, b, &a) ? kOverflow : nullptr;
}

/// Operations with two integers; the result takes the place of `a`.
const char* apply(Op op, std::int64_t& a, std::int64_t b) {
  switch (op) {
    case Op::add:
      return __builtin_add_overflow(a, b, &a) ? kOverflow : nullptr;
    case Op::subtract:
      return __builtin_sub_overflow(a, b, &a) ? kOverflow : nullptr;
    case Op::multiply:
      return __builtin_mul_overflow(a, b, &a) ? kOverflow : nullptr;
    case Op::divide:
      return quotient(a, b);
    case Op::modulo:
      if (b == 0) return "division by zero";
      a = b == -1 ? 0 : a % b;
      return nullptr;
    case Op::less:
      a = a < b;
      return nullptr;
    case Op::less_equal:
      a = a <= b;
      return nullptr;
    case Op::greater:
      a = a > b;
      return nullptr;
    case Op::greater_equal:
      a = a >= b;
      return nullptr;
    case Op::equal:
      a = a == b;
      return nullptr;
    case Op::not_equal:
      a = a != b;
      return nullptr;
    case Op::minimum:
      a = a < b ? a : b;
      return nullptr;
    case Op::maximum:
      a = a > b ? a : b;
      return nullptr;
    case Op::ceil_div:
      return rounded_quotient(a, b, true);
    case Op::round_up:
      return multiple(a, b, true);
    case Op::round_down:
      return multiple(a, b, false);
    case Op::gcd:
      if (a == kLowest || b == kLowest) return kOverflow;
      a = std::gcd(a, b);
      return nullptr;
    case Op::either:
      a = a != 0 || b != 0;
      return nullptr;
    default:
      assert(false);
      return nullptr;
  }
}

const char* apply_real(Op op, std::int64_t& bits, double b) {
  const double a = real_of(bits);
  const auto real = [&](double value) {
    bits = bits_of(value);
    return std::isfinite(value) ? nullptr : kOverflow;
  };
  const auto truth = [&](bool value) -> const char* {
    bits = value;
    return nullptr;
  };
  switch (op) {
    case Op::add_real:
      return real(a + b);
    case Op::subtract_real:
      return real(a - b);
    case Op::multiply_real:
      return real(a * b);
    case Op::divide_real:
      return b == 0 ? "division by zero" : real(a / b);
    case Op::less_real:
      return truth(a < b);
    case Op::less_equal_real:
      return truth(a <= b);
    case Op::greater_real:
      return truth(a > b);
    case Op::greater_equal_real:
      return truth(a >= b);
    case Op::equal_real:
      return truth(a == b);
    case Op::not_equal_real:
      return truth(a != b);
    case Op::minimum_real:
      return real(a < b ? a : b);
    case Op::maximum_real:
      return real(a > b ? a : b);
    case Op::power:
      return real(std::pow(a, b));
    default:
      assert(false);
      return nullptr;
  }
}

}  // namespace

std::optional<std::int64_t> run_expression(std::span<const Instruction> code,
                                           std::span<const std::int64_t> values,
                                           std::span<const std::uint8_t> missing,
                                           ExpressionFault& fault) noexcept {
  std::int64_t stack[kStackDepth];  // sufficient: the parser checks
  std::int64_t* top = stack;        // one past the last
  const Instruction* const begin = code.data();
  const Instruction* const end = begin + code.size();
  for (const Instruction* at = begin; at != end; ++at) {
    const char* wrong = nullptr;
    const auto operand = static_cast<std::size_t>(at->operand);
    switch (at->op) {
      case Op::constant:
        *top++ = at->operand;
        break;
      case Op::load:
        if (!missing.empty() && missing[operand]) wrong = kMissing;
        *top++ = values[operand];
        break;
      case Op::copy:
        *top = top[-1 - at->operand];
        ++top;
        break;
      case Op::drop_below:
        top -= operand;
        top[-1] = top[-1 + at->operand];
        break;
      case Op::jump:
        at = begin + at->operand - 1;
        break;
      case Op::jump_if_zero:
        if (*--top == 0) at = begin + at->operand - 1;
        break;
      case Op::keep:
        break;
      case Op::to_real_below:
        wrong = apply(Op::to_real, top[-2]);
        break;
      // The most frequent operations, without the second switch of apply().
      case Op::truth:
        top[-1] = top[-1] != 0;
        break;
      case Op::add: {
        const std::int64_t right = at->immediate ? at->operand : *--top;
        if (__builtin_add_overflow(top[-1], right, &top[-1])) wrong = kOverflow;
        break;
      }
      case Op::multiply: {
        const std::int64_t right = at->immediate ? at->operand : *--top;
        if (__builtin_mul_overflow(top[-1], right, &top[-1])) wrong = kOverflow;
        break;
      }
      case Op::equal: {
        const std::int64_t right = at->immediate ? at->operand : *--top;
        top[-1] = top[-1] == right;
        break;
      }
      default: {
        if (at->op < Op::to_real_below) {
          wrong = apply(at->op, top[-1]);
          break;
        }
        const std::int64_t right = at->immediate ? at->operand : *--top;
        wrong = at->op < Op::add_real ? apply(at->op, top[-1], right)
                                      : apply_real(at->op, top[-1], real_of(right));
      }
    }
    if (wrong) {
      fault = {wrong, at->column, wrong == kMissing};
      return std::nullopt;
    }
  }
  assert(top == stack + 1);
  return stack[0];
}

}  // namespace autotune
