// SPDX-License-Identifier: Apache-2.0
// A short row of values that is added and multiplied as one: a vector register on a CPU, several
// registers on a GPU.
#pragma once

#ifdef AUTOTUNE_HOST
#include "on_host/lanes.cuh"
#else

template <typename T, int COUNT>
struct Lanes {
  T value[COUNT];
};

template <typename T, int COUNT>
__device__ inline Lanes<T, COUNT> operator*(T factor, const Lanes<T, COUNT>& lanes) {
  Lanes<T, COUNT> product;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) product.value[i] = factor * lanes.value[i];
  return product;
}

template <typename T, int COUNT>
__device__ inline void operator+=(Lanes<T, COUNT>& sum, const Lanes<T, COUNT>& lanes) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) sum.value[i] += lanes.value[i];
}

#endif
