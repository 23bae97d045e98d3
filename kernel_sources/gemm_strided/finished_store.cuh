// SPDX-License-Identifier: Apache-2.0
// gemm's problem, with an activation in every store. It takes the place of the two functions of
// problem.cuh through which all kernels of gemm write D.
#pragma once

#define scaled scaled_alone
#define store store_scaled_alone
#include "gemm/problem.cuh"
#undef scaled
#undef store

constexpr bool kHasBias =
    EPILOGUE == EPILOGUE_BIAS || EPILOGUE == EPILOGUE_BIAS_RELU || EPILOGUE == EPILOGUE_BIAS_GELU;
constexpr bool kHasRelu = EPILOGUE == EPILOGUE_RELU || EPILOGUE == EPILOGUE_BIAS_RELU;
constexpr bool kHasGelu = EPILOGUE == EPILOGUE_GELU || EPILOGUE == EPILOGUE_BIAS_GELU;

__device__ inline float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ inline double hyperbolic_tangent(double x) { return tanh(x); }

/// ReLU keeps a NaN. GELU is the approximation by tanh, as in cuBLASLt.
template <class T>
__device__ inline T activated(T x) {
  if (kHasRelu) return x < T(0) ? T(0) : x;
  if (!kHasGelu) return x;
  return T(0.5) * x *
         (T(1) + hyperbolic_tangent(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
}

template <class Config>
__device__ inline real scaled(real sum, real alpha, real beta, const real* C, long long c_at) {
  return activated(scaled_alone<Config>(sum, alpha, beta, C, c_at));
}

template <class Config>
__device__ inline void store(const Problem& p, int m, int n, real sum) {
  p.D[(long long)m * p.ldd + n] =
      scaled<Config>(sum, p.alpha, p.beta, p.C, (long long)m * p.ldc + n);
}
