// SPDX-License-Identifier: Apache-2.0
// What an Expression is compiled to: code for a small stack machine. Used by expression*.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

enum class Op : std::uint8_t {
  constant,      // push operand
  load,          // push values[operand]
  jump,          // go on at operand
  jump_if_zero,  // pop; go on at operand when it was 0
  truth,         // 1 when not 0
  negate,
  logical_not,
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
  is_pow2,
  absolute,
  log2,
};

struct Instruction {
  Op op;
  std::int32_t column;  // of the operator, for errors
  std::int64_t operand;
};

/// The deepest stack that code may need; parse_expression() refuses deeper text.
inline constexpr int kStackDepth = 256;

struct ExpressionProgram {
  std::string text;
  std::vector<std::string> names;
  std::vector<std::string> words;
  std::vector<Instruction> code;
};

/// Throws ExpressionError.
ExpressionProgram parse_expression(std::string_view text);

}  // namespace autotune
