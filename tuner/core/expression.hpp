// SPDX-License-Identifier: Apache-2.0
// Expressions over parameters, problem sizes and device limits: `ceil_div(M, BM) * 2`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/core/value.hpp"

namespace autotune {

struct ExpressionProgram;

/// An invalid expression, or one without a value. `column` counts characters from 1.
class ExpressionError : public Error {
 public:
  ExpressionError(const std::string& text, int column, const std::string& what);
  int column() const { return column_; }
  /// The message without the place.
  const std::string& reason() const { return reason_; }

 private:
  int column_;
  std::string reason_;
};

/// Thrown by a NameResolver for an unknown name, with the reason.
class NameError : public Error {
 public:
  using Error::Error;
};

/// The kind of a value. `any` is a name of unknown kind: an integer that may be compared with
/// words. A handle is the number of a buffer or tensor map; only `? :` applies to it.
enum class ValueKind : std::uint8_t { integer, real, word, handle, any };

/// A function of a manifest. Calls are expanded inline.
struct FunctionText {
  std::vector<std::string> parameters;
  std::string body;
};

/// The meaning of a name in a text.
struct NameMeaning {
  ValueKind kind = ValueKind::any;
  std::string name;                                        // the expression's own name for it
  const std::vector<std::string>* words = nullptr;         // of a word: its possible values
  std::shared_ptr<const FunctionText> function = nullptr;  // in place of a value
};

/// Returns the meaning of a name, or throws NameError.
using NameResolver = std::function<NameMeaning(const std::string& name)>;

/// One expression, parsed once. Integers have 64 bits; an integer that meets a real number becomes
/// real. Grammar, loosest binding first: `a ? b : c`, `implies`, `or ||`, `and &&`, `not`, `== !=
/// in`, `< <= > >=` (which chain: `a <= b < c`), `+ -`, `* / %`, unary `- !`, calls, parentheses.
/// `/` and `%` of integers truncate as in C. Functions: min, max, gcd (2 or more arguments),
/// ceil_div, round_up, round_down (to a multiple), is_pow2, abs, log2 (floor), bytes (of an element
/// type), int, floor, ceil, sqrt, pow. Names: letters, digits, `_`, and one prefix `device.`. Words
/// stand in quotes; they are compared, or chosen by `? :`. Overflow, division by zero and log2 of
/// less than 1 throw ExpressionError with the column; the untaken side of `? :`, `and`, `or`,
/// `implies` is not evaluated. docs/manifest.md documents it for users.
class Expression {
 public:
  /// Throws ExpressionError. Without a resolver, any name is accepted, of kind `any`.
  static Expression parse(std::string_view text);
  static Expression parse(std::string_view text, const NameResolver& resolver);
  /// A constant.
  static Expression constant(std::int64_t value);
  /// `condition ? yes : no`. Both must have the same kind, or be 0.
  static Expression choice(const Expression& condition, const Expression& yes,
                           const Expression& no);

  /// The same, with another text in messages.
  Expression called(std::string text) const;

  const std::string& text() const;
  /// integer, real, word or handle.
  ValueKind kind() const;
  /// The distinct free names in order of first appearance.
  const std::vector<std::string>& names() const;
  /// The distinct quoted words.
  const std::vector<std::string>& words() const;
  /// The column, from 1, where one of names() or words() first occurs.
  int column_of(const std::string& name) const;
  /// Expressions with the same identity have the same value for the same names. Spaces do not
  /// matter.
  std::string identity(const std::function<std::string(const std::string&)>& identity_of) const;

  /// The value with `values[i]` for `names()[i]`. Throws ExpressionError. Thread-safe. A real value
  /// is given as its bits.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

  /// The same with each name looked up; `lookup` may throw for an unknown one.
  std::int64_t evaluate(const std::function<std::int64_t(const std::string&)>& lookup) const;

  const ExpressionProgram& program() const { return *program_; }

 private:
  explicit Expression(std::shared_ptr<const ExpressionProgram> program)
      : program_(std::move(program)) {}
  std::shared_ptr<const ExpressionProgram> program_;
};

// The names visible to an expression: layers of names and values, the innermost last.

/// Names bound to codes (Value::code()). A later binding of a name hides an earlier one.
class Scope {
 public:
  void bind(const std::string& name, std::int64_t code) { codes_[name] = code; }
  void bind(const NamedValues& values);
  bool contains(const std::string& name) const { return codes_.contains(name); }

  /// Throws Error with the name, and near names, if it is not bound.
  std::int64_t operator[](const std::string& name) const;
  /// Throws ExpressionError or, for an unbound name, Error.
  std::int64_t evaluate(const Expression& expression) const;

 private:
  std::unordered_map<std::string, std::int64_t> codes_;
};

}  // namespace autotune
