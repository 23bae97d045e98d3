// SPDX-License-Identifier: Apache-2.0
// What products of i8, and of f32 rounded to tf32, have in common. Sums of 8-bit integers are exact
// in 32 bits, and have no scale and no epilogue.
#include "device/factor.cuh"

#if DTYPE == DTYPE_I8
#define RESULT_ARGUMENTS int *D, int M, int N, int K
#define RESULT \
  { nullptr, nullptr, 1, 0, M, N }
#else
#define RESULT_ARGUMENTS \
  const float *C, const float *bias, float *D, float alpha, float beta, int M, int N, int K
#define RESULT \
  { C, bias, alpha, beta, M, N }
#endif

struct PackedConfiguration : ProblemConfiguration {
  static constexpr Factor kFactor = DTYPE == DTYPE_I8 ? Factor::s8 : Factor::tf32;
  static constexpr bool kBatched = false;
};
