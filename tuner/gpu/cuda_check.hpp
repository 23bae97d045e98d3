// SPDX-License-Identifier: Apache-2.0
// Private to this folder: what a CUDA error means.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace autotune {

/// Whether the error stays: the process can use the GPU no more and must be replaced.
bool is_sticky(cudaError_t error);

/// `an illegal memory access was encountered (cudaErrorIllegalAddress)`.
std::string text_of(cudaError_t error);

/// Throws KernelFailure: crash for a sticky error, launch_error for any other.
void check_kernel(cudaError_t error, const std::string& kernel);

/// For calls that only a broken environment fails: throws Error, or KernelFailure(crash) when the
/// error is one that a kernel left behind. `doing` completes `cannot …`.
void check_cuda(cudaError_t error, const char* doing);

}  // namespace autotune
