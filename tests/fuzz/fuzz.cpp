// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry.
#include "tests/fuzz/fuzz.hpp"

#include <cstdio>
#include <cstdlib>

#include "db/store.hpp"
#include "tuner/core/error.hpp"

namespace autotune::fuzz {

void require(bool holds, std::string_view sentence) {
  if (holds) return;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

}  // namespace autotune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) try {
  autotune::fuzz::feed({reinterpret_cast<const char*>(data), size});
  return 0;
} catch (const autotune::Error&) {
  return 0;
} catch (const autotune::db::StoreError&) {
  return 0;
}
