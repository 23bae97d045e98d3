// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/driver_function.hpp"

#include <cuda_runtime_api.h>

namespace autotune {

void* driver_function(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableLegacyStream, &found) ==
          cudaSuccess &&
      found == cudaDriverEntryPointSuccess) {
    return function;
  }
  cudaGetLastError();
  return nullptr;
}

}  // namespace autotune
