// SPDX-License-Identifier: Apache-2.0
// What additions of arrays share: one thread's runs of VECTOR elements, `step` elements apart.
#pragma once

#include "streaming.cuh"

__device__ inline Pack<VECTOR> sum_of(const Pack<VECTOR>& x, const Pack<VECTOR>& y) {
  Pack<VECTOR> sum;
#pragma unroll
  for (int j = 0; j < VECTOR; ++j) sum.at[j] = x.at[j] + y.at[j];
  return sum;
}

/// Few runs are all loaded before the first is stored.
template <int items, int step>
__device__ inline void add_runs(const real* a, const real* b, real* c) {
  if constexpr (items > 16) {
    for (int item = 0; item < items; ++item, a += step, b += step, c += step) {
      write_once(c, sum_of(read_once<VECTOR>(a), read_once<VECTOR>(b)));
    }
  } else {
    Pack<VECTOR> x[items], y[items];
#pragma unroll
    for (int item = 0; item < items; ++item) {
      x[item] = read_once<VECTOR>(a + item * step);
      y[item] = read_once<VECTOR>(b + item * step);
    }
#pragma unroll
    for (int item = 0; item < items; ++item) {
      write_once(c + item * step, sum_of(x[item], y[item]));
    }
  }
}
