// SPDX-License-Identifier: Apache-2.0
// Parses the subset of Python expressions that tuning problems use into a tree. No Python is run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

struct PythonNode {
  enum class Kind : std::uint8_t {
    integer,      // `text`: its digits
    real,         // the same
    text,         // `text`: without quotes
    name,         // `text`; True and False are integers
    list,         // of `children`; tuples too
    call,         // `text`(children…)
    index,        // `text`[children[0]]
    unary,        // `text` is -, + or not
    binary,       // `text` is one of + - * / // % **
    logical,      // `text` is and, or
    comparison,   // children with `operators` between: `a <= b < c`; also in, not in
    conditional,  // children[0] if children[1] else children[2]
    generator,    // [children[0] for `text` in children[1] if children[2]], the last optional
  } kind = Kind::integer;
  std::string text = {};
  std::vector<PythonNode> children = {};
  std::vector<std::string> operators = {};
};

/// Throws Error `column 5: what is wrong` if the text is not such an expression.
PythonNode parse_python(std::string_view text);

}  // namespace autotune
