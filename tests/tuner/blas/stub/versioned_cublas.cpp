// SPDX-License-Identifier: Apache-2.0
// A cuBLAS of the version STUB_VERSION, whose handles know it.
#include <cstdio>

#pragma GCC visibility push(default)
extern "C" {

int cublasCreate_v2(void** handle) {
  *handle = new int{STUB_VERSION};
  return 0;
}
int cublasDestroy_v2(void* handle) {
  delete static_cast<int*>(handle);
  return 0;
}
int cublasGetPointerMode_v2(void* handle, int* mode) {
  if (*static_cast<int*>(handle) != STUB_VERSION) std::puts("a foreign handle");
  *mode = 0;
  return 0;
}
int cublasGetMathMode(void* handle, int* mode) { return cublasGetPointerMode_v2(handle, mode); }
int cublasSgemm_v2(void* handle, int, int, int, int, int, const float*, const float*, int,
                   const float*, int, const float*, float*, int) {
  std::printf("%d gets a handle of %d\n", STUB_VERSION, *static_cast<int*>(handle));
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
