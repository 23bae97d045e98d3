// SPDX-License-Identifier: Apache-2.0
// What an Expression is compiled to: code for a small stack machine. Used by tuner/core only.
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
  jump,          // go on at operand
  jump_if_zero,  // pop; go on at operand when it was 0
  keep,          // nothing
  // One operand.
  truth,  // 1 when not 0
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
  either,  // 1 when one of two truths is
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
  bool immediate = false;  // the right one of two operands is `operand`, not the top of the stack
};

/// The deepest stack that code may need; parse_expression() refuses deeper text.
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
  bool is_missing = false;  // a value that it loads
};

/// `values[operand]` is what a load pushes, unless `missing[operand]`: then there is no value. An
/// empty `missing` means that all are there. nullopt with a fault.
std::optional<std::int64_t> run_expression(std::span<const Instruction> code,
                                           std::span<const std::int64_t> values,
                                           std::span<const std::uint8_t> missing,
                                           ExpressionFault& fault) noexcept;

/// Code that does the same with less: what is known is computed, choices with a known condition
/// are made. What has no value for certain stays, and has none when it is run.
std::vector<Instruction> folded(std::span<const Instruction> code);

}  // namespace autotune
