// SPDX-License-Identifier: Apache-2.0
// The compiled form of an Expression: code for a small stack machine. Used by tuner/core only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/expression.hpp"

namespace autotune {

enum class Op : std::uint8_t {
  constant,      // push operand
  load,          // push values[operand]
  copy,          // push the value that lies `operand` below the top
  drop_below,    // drop `operand` values below the top
  jump,          // continue at operand
  jump_if_zero,  // pop; continue at operand if the value was 0
  keep,          // no operation
  // One operand.
  truth,  // 1 if not 0
  negate,
  logical_not,
  is_pow2,
  absolute,
  log2,
  to_real,
  negate_real,
  absolute_real,
  truncate,
  floor,
  ceil,
  square_root,
  // Of the value below the top.
  to_real_below,
  // Two operands.
  add,
  subtract,
  multiply,
  divide,
  modulo,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  minimum,
  maximum,
  ceil_div,
  round_up,
  round_down,
  gcd,
  either,  // 1 if one of two truth values is
  // Two real operands, in the order of those above.
  add_real,
  subtract_real,
  multiply_real,
  divide_real,
  less_real,
  less_equal_real,
  greater_real,
  greater_equal_real,
  equal_real,
  not_equal_real,
  minimum_real,
  maximum_real,
  power,
};

struct Instruction {
  Op op;
  std::int32_t column;  // of the operator, for errors
  std::int64_t operand;
  bool immediate = false;  // the right operand is `operand`, not the top of the stack
};

/// The depth of the stack. parse_expression() refuses text that needs more.
inline constexpr int kStackDepth = 256;

struct ExpressionProgram {
  std::string text;
  ValueKind kind = ValueKind::integer;
  std::vector<std::string> names;
  std::vector<std::string> words;
  std::vector<Instruction> code;
};

/// Throws ExpressionError.
ExpressionProgram parse_expression(std::string_view text, const NameResolver& resolver);

/// Why code has no value.
struct ExpressionFault {
  const char* what = nullptr;
  int column = 0;
  bool is_missing = false;  // because a loaded value is missing
};

/// Runs the code. A load pushes `values[operand]`, or fails if `missing[operand]` is set; with an
/// empty `missing`, all values exist. nullopt, and the fault, if the code fails.
std::optional<std::int64_t> run_expression(std::span<const Instruction> code,
                                           std::span<const std::int64_t> values,
                                           std::span<const std::uint8_t> missing,
                                           ExpressionFault& fault) noexcept;

/// Equivalent code after constant folding: operations on known values are computed, choices with a
/// known condition are resolved. Code that always fails stays, and fails when it is run.
std::vector<Instruction> folded(std::span<const Instruction> code);

}  // namespace autotune
