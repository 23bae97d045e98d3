// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C) in f32 on tensor cores, with any lda, ldb, ldc and
// ldd, or with a bias D = activation(alpha op(A) op(B) + bias): the bias is C, one row of N
// elements, and ldc is 0. The kernels are those of gemm_split, whose stores get an activation here.
// Macros: those of gemm_split's manifest, and EPILOGUE.
#include "gemm_strided/activation.cuh"

#define scaled scaled_alone
#define store store_scaled_alone
#include "gemm/problem.cuh"
#undef scaled
#undef store

constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;

template <class Config>
__device__ inline real scaled(real sum, real alpha, real beta, const real* C, long long c_at) {
  real value = scaled_alone<Config>(sum, alpha, beta, C, c_at);
  if (has_bias(kEpilogue)) value += C[c_at];  // beta is not combined with it
  return activated<kEpilogue>(value);
}

template <class Config>
__device__ inline void store(const Problem& p, int m, int n, real sum) {
  p.D[(long long)m * p.ldd + n] =
      scaled<Config>(sum, p.alpha, p.beta, p.C, (long long)m * p.ldc + n);
}

#include "gemm_split/gemm_split.cu"

// The right answer, an element a thread, in double.
extern "C" __global__ void gemm_strided_split_reference(GEMM_ARGUMENTS) {
  const Problem p = GEMM_PROBLEM;
  const int m = blockIdx.x, n = blockIdx.y * 64 + threadIdx.x;
  if (n >= p.N) return;
  double sum = 0;
  for (int k = 0; k < p.K; ++k) {
    sum += (double)a_at<ProblemConfiguration>(p, m, k) * b_at<ProblemConfiguration>(p, k, n);
  }
  if (ProblemConfiguration::kScale != Scale::none) sum *= p.alpha;
  if (ProblemConfiguration::kScale == Scale::beta && p.beta != 0) {
    sum += (double)p.beta * p.C[(long long)m * p.ldc + n];
  }
  if (has_bias(kEpilogue)) sum += p.C[n];
  p.D[(long long)m * p.ldd + n] = (real)activated<kEpilogue>(sum);
}
