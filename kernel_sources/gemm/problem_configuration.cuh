// SPDX-License-Identifier: Apache-2.0
// What the manifests of gemm, gemm_split and those that extend them say of a problem. STRIDED: with
// any leading dimensions, which are arguments or SIZE_lda …, and with an epilogue.
#pragma once

#include "problem.cuh"

struct ProblemConfiguration {
  // LAYOUT's first letter says how A lies in memory (N: M x K, T: K x M), its second how B does
  // (N: K x N, T: N x K).
  static constexpr bool kATransposed = LAYOUT == LAYOUT_TN || LAYOUT == LAYOUT_TT;
  static constexpr bool kBTransposed = LAYOUT == LAYOUT_NT || LAYOUT == LAYOUT_TT;
  static constexpr Scale kScale = SCALE == SCALE_BETA    ? Scale::beta
                                  : SCALE == SCALE_ALPHA ? Scale::alpha
                                                         : Scale::none;
#if STRIDED
  static constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;
#else
  static constexpr Epilogue kEpilogue = Epilogue::none;
#endif
#ifdef BATCHED
  static constexpr int kBatch = BATCHED ? 2 : 1;  // 2: any number
#else
  static constexpr int kBatch = BATCH;
#endif
};

#if STRIDED
typedef real reference_result;  // what lies between rows stays as it was
#else
typedef reference_real reference_result;
#endif

#define GEMM_ARGUMENTS                                                                       \
  const real *A, const real *B, const real *C, real *D, real alpha, real beta, int M, int N, \
      int K, int lda, int ldb, int ldc, int ldd
#define GEMM_PROBLEM                                           \
  Problem {                                                    \
    A, B, C, D, alpha, beta, M, N, K, lda, ldb,                \
        has_bias(ProblemConfiguration::kEpilogue) ? 0 : ldc, ldd \
  }
