// SPDX-License-Identifier: Apache-2.0
// Any text as an expression: it is refused, or has a value or an error for some numbers.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/core/expression.hpp"

void autotune::fuzz::feed(std::string_view input) {
  Expression::parse(input).evaluate(
      [](const std::string& name) { return static_cast<std::int64_t>(name.size()); });
}
