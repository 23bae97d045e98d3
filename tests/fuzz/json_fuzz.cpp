// SPDX-License-Identifier: Apache-2.0
// Any text as a JSON document: it is refused, or can be written again.
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) try {
  autotune::json_text(autotune::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  return 0;
} catch (const autotune::Error&) {
  return 0;
}
