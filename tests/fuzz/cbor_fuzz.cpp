// SPDX-License-Identifier: Apache-2.0
// Any bytes as the header of a message between processes.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/json/json.hpp"

void autotune::fuzz::feed(std::string_view input) {
  if (const auto header = parse_cbor(input)) json_text(*header);
}
