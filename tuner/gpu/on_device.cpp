// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/on_device.hpp"

#include <cuda.h>

#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {

namespace {

/// The driver's functions: the runtime's would give a thread without a context that of GPU 0.
template <class Function>
Function* of_driver(const char* name) {
  return reinterpret_cast<Function*>(driver_function(name));
}

CUcontext current_context() {
  static auto* const get = of_driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

bool is_current(int ordinal) {
  static auto* const get = of_driver<decltype(cuCtxGetDevice)>("cuCtxGetDevice");
  CUdevice device = -1;
  return get != nullptr && get(&device) == CUDA_SUCCESS && device == ordinal;
}

cudaError_t select(int ordinal) {
  return is_current(ordinal) ? cudaSuccess : cudaSetDevice(ordinal);
}

}  // namespace

OnDevice::OnDevice(int ordinal) : before_(current_context()) {
  check_cuda(select(ordinal), "use this GPU");
}

OnDevice::OnDevice(int ordinal, std::nothrow_t) noexcept : before_(current_context()) {
  if (select(ordinal) != cudaSuccess) cudaGetLastError();
}

OnDevice::~OnDevice() {
  static auto* const set = of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent");
  auto* const before = static_cast<CUcontext>(before_);
  if (set != nullptr && current_context() != before) set(before);
}

}  // namespace autotune
