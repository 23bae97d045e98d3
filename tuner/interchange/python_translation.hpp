// SPDX-License-Identifier: Apache-2.0
// Translates Python expressions to expressions of a manifest.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace autotune {

// Parses the subset of Python expressions that tuning problems use into a tree. No Python is run.

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

/// What a name stands for: the text of an operand, and the values that it may have.
struct PythonOperand {
  // NOLINTNEXTLINE(google-explicit-constructor)
  PythonOperand(std::string operand, double low = -std::numeric_limits<double>::infinity(),
                double high = std::numeric_limits<double>::infinity())
      : text(std::move(operand)), least(low), most(high) {}

  std::string text;
  double least, most;
};

/// Translates a name. `index` is -1, or i for `NAME[i]`. `is_whole`: the name is the only argument
/// of min() or max(). The text is empty if the name is unknown.
using PythonName =
    std::function<PythonOperand(const std::string& name, std::int64_t index, bool is_whole)>;

struct PythonTranslation {
  std::string text;
  /// Differences in meaning, one sentence each.
  std::vector<std::string> notes;
};

/// `//` and `%` round down, as in Python, where an operand may be negative. Throws Error with the
/// reason if a construct has no counterpart.
PythonTranslation translate_python(std::string_view text, const PythonName& name);

// Lists of constants in Python: `[1, 2] + list(range(32, 1025, 32))`, `[2**i for i in range(6)]`.

using PythonConstant = std::variant<std::int64_t, double, std::string>;

/// The items of a list, tuple or range. Understands numbers, texts, arithmetic, comparisons,
/// range(), list(), tuple(), min(), max(), + of lists, and list comprehensions with one `for`.
/// Throws Error that quotes what it does not support.
std::vector<PythonConstant> python_list(std::string_view text);

}  // namespace autotune
