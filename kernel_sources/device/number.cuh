// SPDX-License-Identifier: Apache-2.0
// The element type that the setting `dtype` chose, of 16 bits too, and vectors of elements that move
// as one. Without the macro DTYPE elements are floats. gemm has element.cuh instead, whose text its
// stored results hang on.
#pragma once

#if defined(DTYPE_F16) && DTYPE == DTYPE_F16
#include <cuda_fp16.h>
#elif defined(DTYPE_BF16) && DTYPE == DTYPE_BF16
#include <cuda_bf16.h>
#endif

// real: an element. wide: what kernels compute with. reference_real: what references compute with
// and write; an element becomes one by way of `wide`.
#if defined(DTYPE_F16) && DTYPE == DTYPE_F16
typedef __half real;
typedef float wide;
typedef double reference_real;
#elif defined(DTYPE_BF16) && DTYPE == DTYPE_BF16
typedef __nv_bfloat16 real;
typedef float wide;
typedef double reference_real;
#elif defined(DTYPE_F64) && DTYPE == DTYPE_F64
typedef double real;
typedef double wide;
typedef double reference_real;
#elif defined(DTYPE_I32) && DTYPE == DTYPE_I32
typedef int real;
typedef int wide;
typedef int reference_real;
#elif defined(DTYPE_I8) && DTYPE == DTYPE_I8
typedef signed char real;
typedef int wide;
typedef signed char reference_real;
#else
typedef float real;
typedef float wide;
typedef double reference_real;
#endif

constexpr int kWidest = 16 / sizeof(real);  // elements of the widest access

/// Aligned to its size: on a GPU one load or store of up to 16 bytes.
template <int count>
struct alignas(count * sizeof(real)) Vector {
  real value[count];
};

template <int count>
__device__ inline Vector<count> load_vector(const real* from) {
  return *reinterpret_cast<const Vector<count>*>(from);
}

template <int count>
__device__ inline void store_vector(real* to, const Vector<count>& vector) {
  *reinterpret_cast<Vector<count>*>(to) = vector;
}
