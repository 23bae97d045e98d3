// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/toolkit.hpp"

#include <cuda_runtime_api.h>

#include <exception>

#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/toolkit_headers.hpp"

namespace autotune {
namespace {

std::string device_error() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count > 0 ? "" : "the driver has no GPU";
}

}  // namespace

Toolkit toolkit() {
  Toolkit found;
  found.built = true;
  try {
    found.nvrtc = nvrtc_version();
  } catch (const std::exception&) {  // empty says so
  }
  found.nvrtc_folder = nvrtc_folder().string();
  found.headers = toolkit_headers();
  cudaRuntimeGetVersion(&found.runtime);
  cudaDriverGetVersion(&found.driver);
  found.device_error = device_error();
  return found;
}

}  // namespace autotune
