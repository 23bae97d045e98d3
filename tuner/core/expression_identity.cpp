// SPDX-License-Identifier: Apache-2.0
// The meaning of an expression as text. Fingerprints contain it, so its form must never change.
#include <iterator>

#include "tuner/core/expression.hpp"
#include "tuner/core/expression_program.hpp"

namespace autotune {
namespace {

/// By Op. A new operation gets a new name; the others keep theirs.
constexpr const char* kOpNames[] = {"constant",
                                    "load",
                                    "copy",
                                    "drop_below",
                                    "jump",
                                    "jump_if_zero",
                                    "keep",
                                    "truth",
                                    "negate",
                                    "logical_not",
                                    "is_pow2",
                                    "absolute",
                                    "log2",
                                    "to_real",
                                    "negate_real",
                                    "absolute_real",
                                    "truncate",
                                    "floor",
                                    "ceil",
                                    "square_root",
                                    "to_real_below",
                                    "add",
                                    "subtract",
                                    "multiply",
                                    "divide",
                                    "modulo",
                                    "less",
                                    "less_equal",
                                    "greater",
                                    "greater_equal",
                                    "equal",
                                    "not_equal",
                                    "minimum",
                                    "maximum",
                                    "ceil_div",
                                    "round_up",
                                    "round_down",
                                    "gcd",
                                    "either",
                                    "add_real",
                                    "subtract_real",
                                    "multiply_real",
                                    "divide_real",
                                    "less_real",
                                    "less_equal_real",
                                    "greater_real",
                                    "greater_equal_real",
                                    "equal_real",
                                    "not_equal_real",
                                    "minimum_real",
                                    "maximum_real",
                                    "power"};
static_assert(std::size(kOpNames) == static_cast<std::size_t>(Op::power) + 1);

}  // namespace

std::string Expression::identity(
    const std::function<std::string(const std::string&)>& identity_of) const {
  std::string text;
  for (const Instruction& each : program_->code) {
    text += kOpNames[static_cast<std::size_t>(each.op)];
    text += ' ';
    text += each.op == Op::load ? identity_of(names()[static_cast<std::size_t>(each.operand)])
                                : std::to_string(each.operand);
    text += ';';
  }
  return text;
}

}  // namespace autotune
