// SPDX-License-Identifier: Apache-2.0
// A library of a program, linked with one version of cuBLAS.
#include <array>

#include "tests/tuner/blas/stub/stub_cublas.hpp"

extern "C" {
int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
}

extern "C" [[gnu::visibility("default")]] int call_product() {
  alignas(16) static std::array<float, 64> a{}, b{}, c{};
  const float one = 1, zero = 0;
  void* handle = nullptr;
  if (cublasCreate_v2(&handle) != 0) return 1;
  const int status =
      cublasSgemm_v2(handle, 0, 0, 8, 8, 8, &one, a.data(), 8, b.data(), 8, &zero, c.data(), 8);
  cublasDestroy_v2(handle);
  return status;
}
