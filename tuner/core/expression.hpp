// SPDX-License-Identifier: Apache-2.0
// Integer expressions over parameters, problem sizes and device limits: `ceil_div(M, BM) * 2`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"

namespace autotune {

struct ExpressionProgram;

/// What is wrong in an expression, and where: `column` counts from 1.
class ExpressionError : public Error {
 public:
  ExpressionError(const std::string& text, int column, const std::string& what);
  int column() const { return column_; }

 private:
  int column_;
};

/// One expression, parsed once, in 64-bit integers. Grammar, loosest binding first:
/// `a ? b : c`, `||`, `&&`, `== !=`, `< <= > >=` (comparisons do not chain), `+ -`, `* / %`, unary
/// `- !`, calls, parentheses.
/// `/` and `%` truncate as in C. Functions: min, max (2 or more arguments), ceil_div, round_up
/// (to a multiple), is_pow2, abs, log2 (floor). Names: letters, digits, `_`, and one prefix
/// `device.`. Words stand in single quotes, `PREFETCH == 'register'`, and are only compared.
/// Overflow, division by zero and log2 of less than 1 throw ExpressionError with the column;
/// the untaken side of `? :`, `&&`, `||` is not evaluated. docs/manifest.md documents it for users.
class Expression {
 public:
  /// Throws ExpressionError.
  static Expression parse(std::string_view text);
  /// A constant.
  static Expression constant(std::int64_t value);

  const std::string& text() const;
  /// The distinct free names in order of first appearance.
  const std::vector<std::string>& names() const;
  /// The distinct quoted words.
  const std::vector<std::string>& words() const;
  /// Where one of names() or words() first stands, from 1.
  int column_of(const std::string& name) const;

  /// The value with `values[i]` for `names()[i]`. Throws ExpressionError. Thread-safe.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

  /// The same with `slots[slot_of[i]]` for `names()[i]`.
  std::int64_t evaluate(std::span<const std::int64_t> slots,
                        std::span<const std::uint32_t> slot_of) const;

  /// The value with each name looked up; `lookup` may throw for an unknown one.
  std::int64_t evaluate(const std::function<std::int64_t(const std::string&)>& lookup) const;

 private:
  explicit Expression(std::shared_ptr<const ExpressionProgram> program)
      : program_(std::move(program)) {}
  std::shared_ptr<const ExpressionProgram> program_;
};

}  // namespace autotune
