// SPDX-License-Identifier: Apache-2.0
// Constant folding of compiled expressions. Operations on known values become their result. A
// choice with a known condition becomes one of its sides. Code that fails stays, and fails when it
// is evaluated.
#include <algorithm>
#include <bit>
#include <map>

#include "tuner/core/expression_program.hpp"

namespace autotune {
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
