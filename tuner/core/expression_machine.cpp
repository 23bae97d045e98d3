// SPDX-License-Identifier: Apache-2.0
// The stack machine that runs compiled expressions. It does not throw, because building a space may
// meet many divisions by zero.
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <map>
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

const char* set(std::int64_t& to, std::int64_t value) {
  to = value;
  return nullptr;
}

/// Operations with one operand, in place. Returns nullptr, or the error message.
const char* apply(Op op, std::int64_t& a) {
  switch (op) {
    case Op::truth:
      return set(a, a != 0);
    case Op::logical_not:
      return set(a, a == 0);
    case Op::is_pow2:
      return set(a, a > 0 && (a & (a - 1)) == 0);
    case Op::negate:
    case Op::absolute:
      if (a == kLowest) return kOverflow;
      return set(a, op == Op::negate || a < 0 ? -a : a);
    case Op::log2:
      if (a < 1) return "log2 of a number below 1";
      return set(a, std::bit_width(static_cast<std::uint64_t>(a)) - 1);
    case Op::to_real:
      return set(a, bits_of(static_cast<double>(a)));
    case Op::negate_real:
      return set(a, bits_of(-real_of(a)));
    case Op::absolute_real:
      return set(a, bits_of(std::abs(real_of(a))));
    case Op::truncate:
      return integral(std::trunc(real_of(a)), a);
    case Op::floor:
      return integral(std::floor(real_of(a)), a);
    case Op::ceil:
      return integral(std::ceil(real_of(a)), a);
    case Op::square_root:
      if (real_of(a) < 0) return "sqrt of a number below 0";
      return set(a, bits_of(std::sqrt(real_of(a))));
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
      return set(a, b == -1 ? 0 : a % b);
    case Op::less:
      return set(a, a < b);
    case Op::less_equal:
      return set(a, a <= b);
    case Op::greater:
      return set(a, a > b);
    case Op::greater_equal:
      return set(a, a >= b);
    case Op::equal:
      return set(a, a == b);
    case Op::not_equal:
      return set(a, a != b);
    case Op::minimum:
      return set(a, a < b ? a : b);
    case Op::maximum:
      return set(a, a > b ? a : b);
    case Op::ceil_div:
      return rounded_quotient(a, b, true);
    case Op::round_up:
      return multiple(a, b, true);
    case Op::round_down:
      return multiple(a, b, false);
    case Op::gcd:
      if (a == kLowest || b == kLowest) return kOverflow;
      return set(a, std::gcd(a, b));
    case Op::either:
      return set(a, a != 0 || b != 0);
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

// Constant folding of compiled expressions. Operations on known values become their result. A
// choice with a known condition becomes one of its sides. Code that fails stays, and fails when it
// is evaluated.

namespace {

class Folding {
 public:
  explicit Folding(std::span<const Instruction> code) : code_(code) {}

  std::vector<Instruction> run() {
    for (std::size_t at = 0; at < code_.size();) {
      land(at);
      at = step(at);
    }
    land(code_.size());
    return std::move(folded_);
  }

 private:
  /// A value on the stack. A known value is pushed by a single instruction.
  struct Entry {
    std::optional<std::int64_t> known;
    std::size_t place = 0;  // of this instruction in the folded code
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  using Stack = std::vector<Entry>;
  struct Landing {
    std::vector<std::size_t> jumps;  // in the folded code
    Stack stack;                     // values known on every path to this place
  };

  /// Returns where to continue.
  std::size_t step(std::size_t at) {
    const Instruction& each = code_[at];
    switch (each.op) {
      case Op::constant:
        push(each, each.operand);
        return at + 1;
      case Op::load:
        push(each, std::nullopt);
        return at + 1;
      case Op::copy:
        copy(each);
        return at + 1;
      case Op::drop_below:
        reduce(each, static_cast<std::size_t>(each.operand) + 1);
        return at + 1;
      case Op::keep:
        return at + 1;
      case Op::jump:
        return jump(at);
      case Op::jump_if_zero:
        return jump_if_zero(at);
      case Op::to_real_below:
        to_real_below(each);
        return at + 1;
      default:
        each.op < Op::to_real_below ? reduce(each, 1) : combine(each);
        return at + 1;
    }
  }

  void push(const Instruction& each, std::optional<std::int64_t> known) {
    stack_.push_back({known, folded_.size()});
    folded_.push_back(each);
  }

  void copy(const Instruction& each) {
    const Entry& of = stack_[stack_.size() - 1 - static_cast<std::size_t>(each.operand)];
    if (of.known) return push({Op::constant, each.column, *of.known}, of.known);
    push(each, std::nullopt);
  }

  void to_real_below(const Instruction& each) {
    Entry& below = stack_[stack_.size() - 2];
    if (are_last(2)) {
      below.known = std::bit_cast<std::int64_t>(static_cast<double>(*below.known));
      folded_[below.place].operand = *below.known;
      return;
    }
    below = {};
    folded_.push_back(each);
  }

  /// An instruction that replaces `count` values by one.
  void reduce(const Instruction& each, std::size_t count) {
    const auto value = value_of(each, count);
    stack_.resize(stack_.size() - count);
    if (!value) {
      push(each, std::nullopt);
      return;
    }
    folded_.resize(folded_.size() - count);
    push({Op::constant, each.column, *value}, value);
  }

  /// An instruction with two operands. A known right operand becomes immediate.
  void combine(const Instruction& each) {
    const bool is_immediate = are_last(1) && !are_last(2);
    if (!is_immediate) return reduce(each, 2);
    const std::int64_t right = *stack_.back().known;
    folded_.pop_back();
    stack_.resize(stack_.size() - 2);
    push({each.op, each.column, right, true}, std::nullopt);
  }

  /// nullopt unless the operands are the last instructions, known, and there is a value.
  std::optional<std::int64_t> value_of(const Instruction& each, std::size_t count) const {
    if (!are_last(count)) return std::nullopt;
    std::vector<Instruction> code(folded_.end() - static_cast<std::ptrdiff_t>(count),
                                  folded_.end());
    code.push_back(each);
    ExpressionFault fault;
    return run_expression(code, {}, {}, fault);
  }

  bool are_last(std::size_t count) const {
    const std::size_t first = folded_.size() - count;
    if (folded_.size() < count || first < barrier_) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const Entry& entry = stack_[stack_.size() - count + i];
      if (!entry.known || entry.place != first + i) return false;
    }
    return true;
  }

  std::size_t jump_if_zero(std::size_t at) {
    const auto target = static_cast<std::size_t>(code_[at].operand);
    const bool is_known = are_last(1);
    const bool is_zero = is_known && *stack_.back().known == 0;
    stack_.pop_back();
    if (is_known) {
      folded_.pop_back();
      return is_zero ? target : at + 1;
    }
    leave(at, target);
    return at + 1;
  }

  /// Drops the jump and the code that it skips, unless another jump lands in that code.
  std::size_t jump(std::size_t at) {
    const auto target = static_cast<std::size_t>(code_[at].operand);
    if (!landings_.contains(at + 1)) return target;
    leave(at, target);
    is_reached_ = false;
    return at + 1;
  }

  void leave(std::size_t at, std::size_t target) {
    const auto [landing, is_new] = landings_.try_emplace(target, Landing{{}, stack_});
    if (!is_new) merge(landing->second.stack, stack_);
    landing->second.jumps.push_back(folded_.size());
    folded_.push_back(code_[at]);
  }

  void land(std::size_t at) {
    const auto found = landings_.find(at);
    if (found == landings_.end()) return;
    Landing& landing = found->second;
    for (const std::size_t jump : landing.jumps) {
      folded_[jump].operand = static_cast<std::int64_t>(folded_.size());
    }
    if (is_reached_) merge(landing.stack, stack_);
    stack_ = std::move(landing.stack);
    is_reached_ = true;
    barrier_ = folded_.size();
    landings_.erase(found);
  }

  /// Keeps in `stack` the values that are known on both paths.
  static void merge(Stack& stack, const Stack& other) {
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (stack[i] != other[i]) stack[i] = {};
    }
  }

  std::span<const Instruction> code_;
  std::vector<Instruction> folded_;
  Stack stack_;
  std::map<std::size_t, Landing> landings_;  // by their place in the code
  std::size_t barrier_ = 0;                  // jumps land at or before this place
  bool is_reached_ = true;                   // from the previous instruction
};

}  // namespace

std::vector<Instruction> folded(std::span<const Instruction> code) { return Folding(code).run(); }

}  // namespace autotune
