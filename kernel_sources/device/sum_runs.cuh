// SPDX-License-Identifier: Apache-2.0
// Addition of arrays by one thread: vectors of `width` elements, `step` elements apart.
#pragma once

#include "streaming.cuh"

template <int width>
__device__ inline Vector<width> sum_of(const Vector<width>& x, const Vector<width>& y) {
  Vector<width> sum;
#pragma unroll
  for (int j = 0; j < width; ++j) sum.value[j] = (wide)x.value[j] + (wide)y.value[j];
  return sum;
}

/// c = a + b for `items` vectors. Up to 16 of them are all loaded before the first is stored.
template <int width, bool stream, int items, int step>
__device__ inline void add_runs(const real* a, const real* b, real* c) {
  if constexpr (items > 16) {
    for (int item = 0; item < items; ++item, a += step, b += step, c += step) {
      write_once<stream>(c, sum_of(read_once<stream, width>(a), read_once<stream, width>(b)));
    }
  } else {
    Vector<width> x[items], y[items];
#pragma unroll
    for (int item = 0; item < items; ++item) {
      x[item] = read_once<stream, width>(a + item * step);
      y[item] = read_once<stream, width>(b + item * step);
    }
#pragma unroll
    for (int item = 0; item < items; ++item) {
      write_once<stream>(c + item * step, sum_of(x[item], y[item]));
    }
  }
}
