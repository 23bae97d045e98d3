// SPDX-License-Identifier: Apache-2.0
// A first kernel for sums by atomics: D = beta C, or zeros. Grid (N/256, M, kBatch) rounded up,
// block 256.
#pragma once

#include "device/early_start.cuh"
#include "problem.cuh"

template <class Config>
__device__ __forceinline__ void clear_output(const real* C, real* D, real beta, int M, int N,
                                             int ldc, int ldd) {
  follow_kernel_ahead();
  const int n = blockIdx.x * 256 + threadIdx.x;
  const long long row = (long long)blockIdx.z * M + blockIdx.y;
  const bool reads_c = Config::kScale == Scale::beta && beta != real(0);
  if (n < N) D[row * ldd + n] = reads_c ? beta * C[row * ldc + n] : real(0);
}
