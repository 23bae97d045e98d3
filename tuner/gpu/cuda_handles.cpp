// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cuda_handles.hpp"

#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

/// Whether the error is sticky: this process can no longer use the GPU and must be replaced.
bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string text_of(cudaError_t error) {
  return format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

void check_kernel(cudaError_t error, const std::string& kernel) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw KernelFailure(is_sticky(error) ? Outcome::crash : Outcome::launch_error,
                      kernel + ": " + text_of(error));
}

void check_cuda(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  if (is_sticky(error)) throw KernelFailure(Outcome::crash, text_of(error));
  throw Error(format("the GPU cannot {}: {}; see whether nvidia-smi works", doing, text_of(error)));
}

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
