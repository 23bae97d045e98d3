// SPDX-License-Identifier: Apache-2.0
// What a call should compute: cublasDgemm, which is never served by a tuned kernel.
#pragma once

#include <string>

#include "tests/gpu/blas/random_call.hpp"

namespace autotune::gpu_blas {

/// Empty if every element of the result is within the bound, and nothing beside it was written.
/// Else the first element that is wrong.
std::string mistake_in(const Call& call, cublasHandle_t handle);

}  // namespace autotune::gpu_blas
