// SPDX-License-Identifier: Apache-2.0
// The value or the error of an expression without names.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/expression.hpp"

namespace autotune::testing {

inline std::int64_t value_of(std::string_view text) {
  return Expression::parse(text).evaluate(std::vector<std::int64_t>{});
}

/// Parses, and evaluates with every name as 0.
inline ExpressionError error_of(std::string_view text) {
  try {
    Expression::parse(text).evaluate([](const std::string&) { return std::int64_t{0}; });
  } catch (const ExpressionError& error) {
    return error;
  }
  ADD_FAILURE() << text << " is fine";
  return {"", 0, ""};
}

}  // namespace autotune::testing
