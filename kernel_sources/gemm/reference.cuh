// SPDX-License-Identifier: Apache-2.0
// The right answer: sums in double (integers: in 64 bits), written as double for floats.
// Grid (M, N/64, BATCH) rounded up; block 64 with a column a thread, or on the host block 1 with 64
// columns a thread, walking B row by row as a CPU's caches and vectors like it.
#pragma once

#if DTYPE == DTYPE_I32
typedef long long wide;
typedef int reference_output;
#else
typedef double wide;
typedef double reference_output;
#endif

#ifdef AUTOTUNE_HOST
#define REFERENCE_COLUMNS 64
#else
#define REFERENCE_COLUMNS 1
#endif

extern "C" __global__ void gemm_reference(const real* A, const real* B, const real* C,
                                          reference_output* D, real alpha, real beta, int M, int N,
                                          int K, int lda, int ldb, int ldc, int ldd) {
  const int m = blockIdx.x, n0 = (blockIdx.y * blockDim.x + threadIdx.x) * REFERENCE_COLUMNS;
  if (BATCH > 1) {
    A += (long long)blockIdx.z * (A_IS_TRANSPOSED ? K : M) * lda;
    B += (long long)blockIdx.z * (B_IS_TRANSPOSED ? N : K) * ldb;
    C += (long long)blockIdx.z * (SCALE == SCALE_BETA ? M : 0) * ldc;
    D += (long long)blockIdx.z * M * ldd;
  }
  wide sum[REFERENCE_COLUMNS] = {};
  for (int k = 0; k < K; ++k) {
    const wide a = a_at(A, lda, m, k);
    if (n0 + REFERENCE_COLUMNS <= N && !B_IS_TRANSPOSED) {
      const real* row = B + (long long)k * ldb + n0;
      for (int j = 0; j < REFERENCE_COLUMNS; ++j) sum[j] += a * row[j];
    } else {
      for (int j = 0; j < REFERENCE_COLUMNS && n0 + j < N; ++j)
        sum[j] += a * b_at(B, ldb, k, n0 + j);
    }
  }
  for (int j = 0; j < REFERENCE_COLUMNS && n0 + j < N; ++j) {
    wide value = sum[j];
    if (SCALE != SCALE_NONE) value *= alpha;
    if (SCALE == SCALE_BETA) value += (wide)beta * C[(long long)m * ldc + n0 + j];
    D[(long long)m * ldd + n0 + j] = (reference_output)value;
  }
}
