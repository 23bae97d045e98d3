// SPDX-License-Identifier: Apache-2.0
// From a sum of tensor cores to an element of D, and where the matrices of several products lie.
#pragma once

#include "problem.cuh"

/// In elements: lda … ldd lie between rows of a matrix, strides between matrices of one operand.
struct Batch {
  int products, lda, ldb, ldc, ldd;
  long long stride_a, stride_b, stride_c, stride_d;
};

/// Elements of 8 bits are multiplied by `*scale`. `*amax` becomes the largest magnitude before
/// that, from the last of all warps that store. `largest` has its bits so far, and how many warps
/// have ended; both are 0 before and after.
struct OutputScale {
  const float* scale = nullptr;
  float* amax = nullptr;
  unsigned* largest = nullptr;
};

/// `Real` is what is computed with, `T` an element of C, D and bias. C and D are M x N, bias N; ldc
/// and ldd lie between rows.
template <class Real, class T>
struct Output {
  const T *C, *bias;
  Real alpha, beta;
  int M, N;
  int ldc = N, ldd = N;
  OutputScale scaled = {};

  template <Scale scale, Epilogue epilogue>
  __device__ __forceinline__ Real value(Real sum, int m, int n) const {
    return value<scale, epilogue>(sum, m, n, has_bias(epilogue) ? (Real)(float)bias[n] : Real(0));
  }

  /// The same with the bias of column n.
  template <Scale scale, Epilogue epilogue>
  __device__ __forceinline__ Real value(Real sum, int m, int n, Real bias_there) const {
    if constexpr (scale != Scale::none) sum *= alpha;
    if constexpr (scale == Scale::beta) {
      if (beta != Real(0)) sum += beta * (float)C[(long long)m * ldc + n];  // as BLAS: else unread
    }
    if constexpr (has_bias(epilogue)) sum += bias_there;
    if constexpr (has_relu(epilogue) || has_gelu(epilogue)) sum = activated<epilogue>(sum);
    return sum;
  }
};
