// SPDX-License-Identifier: Apache-2.0
// The value of a parameter or setting: an integer, a real number or a word.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace autotune {

/// The integer that represents a word in expressions: an FNV-1a hash of 63 bits, so that
/// `PREFETCH == 'register'` needs no table. Words are only compared for equality.
constexpr std::int64_t word_code(std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : word) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return static_cast<std::int64_t>(hash >> 1);
}

/// An integer, a real number or a word, as in `BM=128`, `ALPHA=0.5` and `PREFETCH=register`.
class Value {
 public:
  Value() = default;
  Value(std::int64_t integer) : value_(integer) {}        // NOLINT(google-explicit-constructor)
  Value(int integer) : value_(std::int64_t{integer}) {}   // NOLINT(google-explicit-constructor)
  Value(double real) : value_(real) {}                    // NOLINT(google-explicit-constructor)
  Value(std::string word) : value_(std::move(word)) {}    // NOLINT(google-explicit-constructor)
  Value(const char* word) : value_(std::string(word)) {}  // NOLINT(google-explicit-constructor)

  bool is_integer() const { return value_.index() == 0; }
  bool is_word() const { return value_.index() == 1; }
  bool is_real() const { return value_.index() == 2; }
  std::int64_t integer() const { return std::get<std::int64_t>(value_); }
  const std::string& word() const { return std::get<std::string>(value_); }
  double real() const { return std::get<double>(value_); }
  /// An integer or real number; 0 for a word.
  double number() const;

  /// The value in expressions: the integer itself, the bits of the real number, or word_code() of
  /// the word.
  std::int64_t code() const;
  /// `128`, `0.5` or `register`. parse_value() reads the same value back.
  std::string text() const;
  /// The same in an expression: `128`, `0.5` or `'register'`.
  std::string literal() const;

  friend bool operator==(const Value&, const Value&) = default;
  friend auto operator<=>(const Value&, const Value&) = default;

 private:
  std::variant<std::int64_t, std::string, double> value_{std::int64_t{0}};
};

/// Reads `128` as an integer, `0.5` and `1e-3` as real numbers, and anything else as a word.
Value parse_value(std::string_view text);

/// Digits with a decimal point: a real number in C++, in expressions and for parse_value().
std::string real_text(double value);

/// The one of `values` that the user means by `given`: the same; also 1.0 by `1`, and 1 or 0 by
/// `true` or `false`. nullptr if there is none.
const Value* meant_value(const std::vector<Value>& values, const Value& given);

struct NamedValue {
  std::string name;
  Value value;
  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

/// Names with values in a fixed order: a configuration, or the sizes and settings of a problem.
using NamedValues = std::vector<NamedValue>;

/// The value called `name`, or nullptr.
const Value* find_value(const NamedValues& values, std::string_view name);

/// Whether `values` has all of `wanted`.
bool has_all(const NamedValues& values, const NamedValues& wanted);

/// Canonical text, also a key in the database: `BM=128 BN=64 PREFETCH=register`.
std::string to_text(const NamedValues& values);

/// The inverse of to_text(). Throws Error on an item without `=`.
NamedValues parse_named_values(std::string_view text);

}  // namespace autotune
