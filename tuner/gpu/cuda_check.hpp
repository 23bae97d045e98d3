// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the meaning of CUDA errors.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace autotune {

/// Whether the error is sticky: this process can no longer use the GPU and must be replaced.
bool is_sticky(cudaError_t error);

/// `an illegal memory access was encountered (cudaErrorIllegalAddress)`.
std::string text_of(cudaError_t error);

/// Throws KernelFailure: crash for a sticky error, launch_error for any other.
void check_kernel(cudaError_t error, const std::string& kernel);

/// For calls that fail only in a broken environment. Throws Error, or KernelFailure(crash) for an
/// error that a kernel left behind. `doing` completes `cannot …`.
void check_cuda(cudaError_t error, const char* doing);

}  // namespace autotune
