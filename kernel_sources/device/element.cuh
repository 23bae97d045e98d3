// SPDX-License-Identifier: Apache-2.0
// The element type that the setting `dtype` chose, and vectors of elements that move as one. This
// is the only header that reads DTYPE; without that macro elements are floats.
#pragma once

#if defined(DTYPE_F64) && DTYPE == DTYPE_F64
typedef double real;
typedef double reference_real;  // what reference kernels compute with and write
#elif defined(DTYPE_I32) && DTYPE == DTYPE_I32
typedef int real;
typedef int reference_real;
#else
typedef float real;
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
