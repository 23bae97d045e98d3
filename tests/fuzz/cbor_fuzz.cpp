// SPDX-License-Identifier: Apache-2.0
// Any bytes as the header of a message between processes.
#include "tuner/json/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto header = autotune::parse_cbor({reinterpret_cast<const char*>(data), size});
  if (header) autotune::json_text(*header);
  return 0;
}
