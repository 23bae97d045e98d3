// SPDX-License-Identifier: Apache-2.0
// gemm's problem, with an activation in every store. It takes the place of the two functions of
// problem.cuh through which all kernels of gemm write D.
#pragma once

#include "activation.cuh"

#define scaled scaled_alone
#define store store_scaled_alone
#include "gemm/problem.cuh"
#undef scaled
#undef store

/// Config: as gemm's, and kEpilogue.
template <class Config>
__device__ inline real scaled(real sum, real alpha, real beta, const real* C, long long c_at) {
  return activated<Config::kEpilogue>(scaled_alone<Config>(sum, alpha, beta, C, c_at));
}

template <class Config>
__device__ inline void store(const Problem& p, int m, int n, real sum) {
  p.D[(long long)m * p.ldd + n] =
      scaled<Config>(sum, p.alpha, p.beta, p.C, (long long)m * p.ldc + n);
}
