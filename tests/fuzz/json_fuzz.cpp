// SPDX-License-Identifier: Apache-2.0
// Any text as a JSON document: it is refused, or can be written again.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/json/json.hpp"

void autotune::fuzz::feed(std::string_view input) { json_text(parse_json(input, "fuzz")); }
