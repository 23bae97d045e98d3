// SPDX-License-Identifier: Apache-2.0
// The element type that the setting `dtype` chose, and runs of elements that move as one.
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

/// Aligned to its size: one load or store of up to 16 bytes on a GPU.
template <int count>
struct alignas(count * sizeof(real)) Pack {
  real at[count];
};

template <int count>
__device__ inline Pack<count> load_pack(const real* from) {
  return *reinterpret_cast<const Pack<count>*>(from);
}

template <int count>
__device__ inline void store_pack(real* to, const Pack<count>& pack) {
  *reinterpret_cast<Pack<count>*>(to) = pack;
}
