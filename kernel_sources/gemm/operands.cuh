// SPDX-License-Identifier: Apache-2.0
// What every gemm kernel is given: element type, layouts, scaling, batches, as one contract.
//
//   D[m,n] = alpha * sum over k of op(A)[m,k] op(B)[k,n] + beta * C[m,n]
//
// Row-major. LAYOUT's first letter says how A lies in memory (N: M x K, T: K x M), its second how B
// does (N: K x N, T: N x K); lda, ldb, ldc, ldd are lengths of memory rows in elements. SCALE says
// what is compiled: none (D = A B), alpha (D = alpha A B), beta (all of it); C is read only for
// beta, and D may be C. BATCH problems lie one behind another, rows * ld elements apart.
#pragma once

#if DTYPE == DTYPE_F64
typedef double real;
#elif DTYPE == DTYPE_I32
typedef int real;
#else
typedef float real;
#endif

#define A_IS_TRANSPOSED (LAYOUT == LAYOUT_TN || LAYOUT == LAYOUT_TT)
#define B_IS_TRANSPOSED (LAYOUT == LAYOUT_NT || LAYOUT == LAYOUT_TT)

/// The arguments of all kernels but the first kernel of a pair.
#define GEMM_ARGUMENTS                                                                       \
  const real *A, const real *B, const real *C, real *D, real alpha, real beta, int M, int N, \
      int K, int lda, int ldb, int ldc, int ldd

/// Moves the four pointers to problem `batch`.
#define GEMM_SELECT_BATCH(batch)                                   \
  if (BATCH > 1) {                                                 \
    A += (long long)(batch) * (A_IS_TRANSPOSED ? K : M) * lda;     \
    B += (long long)(batch) * (B_IS_TRANSPOSED ? N : K) * ldb;     \
    C += (long long)(batch) * (SCALE == SCALE_BETA ? M : 0) * ldc; \
    D += (long long)(batch)*M * ldd;                               \
  }

__device__ inline real a_at(const real* A, int lda, int m, int k) {
  return A_IS_TRANSPOSED ? A[(long long)k * lda + m] : A[(long long)m * lda + k];
}

__device__ inline real b_at(const real* B, int ldb, int k, int n) {
  return B_IS_TRANSPOSED ? B[(long long)n * ldb + k] : B[(long long)k * ldb + n];
}

/// What becomes of a finished sum.
__device__ inline real scaled(real sum, real alpha, real beta, const real* C, long long at) {
  if (SCALE == SCALE_NONE) return sum;
  if (SCALE == SCALE_ALPHA) return alpha * sum;
  return alpha * sum + beta * C[at];
}
