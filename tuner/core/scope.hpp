// SPDX-License-Identifier: Apache-2.0
// The names visible to an expression: layers of names and values, the innermost last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tuner/core/expression.hpp"
#include "tuner/core/value.hpp"

namespace autotune {

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
