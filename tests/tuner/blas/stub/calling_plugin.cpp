// SPDX-License-Identifier: Apache-2.0
// A plugin of autotune that calls cuBLAS, as the one that times it does.
#include <array>

#include "plugins/sdk/autotune_plugin.h"
#include "tests/tuner/blas/stub/stub_cublas.hpp"

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return nullptr; }

AUTOTUNE_PLUGIN_EXPORT int call_product(void) {
  alignas(16) static std::array<float, 64> a{}, b{}, c{};
  const float one = 1, zero = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  return cublasSgemm_v2(&handle, 0, 0, 8, 8, 8, &one, a.data(), 8, b.data(), 8, &zero, c.data(), 8);
}
