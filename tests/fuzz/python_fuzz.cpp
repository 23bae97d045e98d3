// SPDX-License-Identifier: Apache-2.0
// Any text as an expression and as a list in Python: it is refused, or translated and evaluated.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/core/error.hpp"
#include "tuner/interchange/python_translation.hpp"

void autotune::fuzz::feed(std::string_view input) {
  try {
    translate_python(input, [](const std::string& name, auto, auto) { return name; });
  } catch (const Error&) {  // it may still be a list
  }
  python_list(input);
}
