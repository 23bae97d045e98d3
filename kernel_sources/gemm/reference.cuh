// SPDX-License-Identifier: Apache-2.0
// The right answer: sums in double (integers: in 64 bits).
// Grid (M, N/64, kBatch) rounded up. Block 64 with a column a thread; on the host block 1 with 64
// columns a thread, which walks B row by row as a CPU's caches and vectors want it.
#pragma once

#include "problem.cuh"

/// What sums are computed in, by way of which elements get there.
template <class T>
struct WideOf {
  typedef double Type;
  typedef float Exact;
};
template <>
struct WideOf<double> {
  typedef double Type, Exact;
};
template <>
struct WideOf<int> {
  typedef long long Type;
  typedef int Exact;
};
template <>
struct WideOf<signed char> : WideOf<int> {};

#ifdef AUTOTUNE_HOST
constexpr int kReferenceColumns = 64;
#else
constexpr int kReferenceColumns = 1;
#endif

/// `D` takes the place of first.D, which may have another type.
template <class Config, class Element, class Result, class Scalar, class T>
__device__ __forceinline__ void multiply_for_reference(
    const ProblemOf<Element, Result, Scalar>& first, T* D) {
  typedef typename WideOf<Element>::Type wide;
  typedef typename WideOf<Element>::Exact exact;
  typedef typename WideOf<Result>::Exact exact_result;
  const auto p = problem_of_batch<Config>(first, blockIdx.z);
  if (Config::kBatch > 1) D += (long long)blockIdx.z * p.M * p.ldd;
  const int m = blockIdx.x, n0 = (blockIdx.y * blockDim.x + threadIdx.x) * kReferenceColumns;
  wide sum[kReferenceColumns] = {};
  for (int k = 0; k < p.K; ++k) {
    const wide a = (exact)a_at<Config>(p, m, k);
    if (n0 + kReferenceColumns <= p.N && !Config::kBTransposed) {
      const Element* row = p.B + (long long)k * p.ldb + n0;
      for (int j = 0; j < kReferenceColumns; ++j) sum[j] += a * (exact)row[j];
    } else {
      for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j)
        sum[j] += a * (exact)b_at<Config>(p, k, n0 + j);
    }
  }
  for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j) {
    wide value = sum[j];
    if (Config::kScale != Scale::none) value *= p.alpha;
    if (Config::kScale == Scale::beta && p.beta != Scalar(0))
      value += (wide)p.beta * (exact_result)p.C[(long long)m * p.ldc + n0 + j];
    if (has_bias(Config::kEpilogue)) value += (exact_result)p.C[n0 + j];
    D[(long long)m * p.ldd + n0 + j] = (T)activated<Config::kEpilogue>(value);
  }
}
