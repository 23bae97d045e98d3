// SPDX-License-Identifier: Apache-2.0
// The right answer: sums in double (integers: in 64 bits).
// Grid (M, N/64, kBatch) rounded up. Block 64 with a column a thread; on the host block 1 with 64
// columns a thread, which walks B row by row as a CPU's caches and vectors want it.
#pragma once

#include "problem.cuh"

template <class T>
struct WideOf {
  typedef double Type;
};
template <>
struct WideOf<int> {
  typedef long long Type;
};

#ifdef AUTOTUNE_HOST
constexpr int kReferenceColumns = 64;
#else
constexpr int kReferenceColumns = 1;
#endif

/// `D` takes the place of first.D, which may have another type.
template <class Config, class T>
__device__ __forceinline__ void multiply_for_reference(const Problem& first, T* D) {
  typedef typename WideOf<real>::Type wide;
  const Problem p = problem_of_batch<Config>(first, blockIdx.z);
  if (Config::kBatch > 1) D += (long long)blockIdx.z * p.M * p.ldd;
  const int m = blockIdx.x, n0 = (blockIdx.y * blockDim.x + threadIdx.x) * kReferenceColumns;
  wide sum[kReferenceColumns] = {};
  for (int k = 0; k < p.K; ++k) {
    const wide a = a_at<Config>(p, m, k);
    if (n0 + kReferenceColumns <= p.N && !Config::kBTransposed) {
      const real* row = p.B + (long long)k * p.ldb + n0;
      for (int j = 0; j < kReferenceColumns; ++j) sum[j] += a * row[j];
    } else {
      for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j)
        sum[j] += a * b_at<Config>(p, k, n0 + j);
    }
  }
  for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j) {
    wide value = sum[j];
    if (Config::kScale != Scale::none) value *= p.alpha;
    if (Config::kScale == Scale::beta && p.beta != real(0))
      value += (wide)p.beta * p.C[(long long)m * p.ldc + n0 + j];
    if (has_bias(Config::kEpilogue)) value += p.C[n0 + j];
    D[(long long)m * p.ldd + n0 + j] = (T)activated<Config::kEpilogue>(value);
  }
}
