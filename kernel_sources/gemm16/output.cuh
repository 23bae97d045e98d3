// SPDX-License-Identifier: Apache-2.0
// From a sum to an element of D: alpha, beta, bias, activation.
#pragma once

enum class Scale { none, alpha, beta };
enum class Epilogue { none, bias, bias_relu, bias_gelu };

/// The exact GELU, x times the normal distribution's share below x.
__device__ inline float gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
__device__ inline double gelu(double x) { return 0.5 * x * (1.0 + erf(x * 0.7071067811865476)); }

/// `Real` is what is computed with, `T` an element of C, D and bias. C and D are M x N, bias N; ldc
/// and ldd lie between rows.
template <class Real, class T>
struct Output {
  const T *C, *bias;
  Real alpha, beta;
  int M, N;
  int ldc = N, ldd = N;

  template <Scale scale, Epilogue epilogue>
  __device__ __forceinline__ Real value(Real sum, int m, int n) const {
    if constexpr (scale != Scale::none) sum *= alpha;
    if constexpr (scale == Scale::beta) {
      if (beta != Real(0)) sum += beta * (float)C[(long long)m * ldc + n];  // as BLAS: else unread
    }
    if constexpr (epilogue != Epilogue::none) sum += (float)bias[n];
    if constexpr (epilogue == Epilogue::bias_relu) sum = sum > 0 ? sum : 0;
    if constexpr (epilogue == Epilogue::bias_gelu) sum = gelu(sum);
    return sum;
  }
};
