// SPDX-License-Identifier: Apache-2.0
// Any text as an expression: it is refused, or has a value or an error for some numbers.
#include <string_view>

#include "tuner/core/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) try {
  const auto expression = autotune::Expression::parse({reinterpret_cast<const char*>(data), size});
  expression.evaluate(
      [](const std::string& name) { return static_cast<std::int64_t>(name.size()); });
  return 0;
} catch (const autotune::Error&) {
  return 0;
}
