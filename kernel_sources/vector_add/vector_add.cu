// SPDX-License-Identifier: Apache-2.0
// c[i] = a[i] + b[i], i < n, for any n.
// A block of BLOCK threads makes BLOCK·ITEMS·VECTOR elements: neighbouring threads take
// neighbouring runs of VECTOR elements, ITEMS times, all loads in flight before the first store.
// STREAM 1: past the caches. Arrays are aligned to 16 bytes. Macros BLOCK ITEMS VECTOR STREAM
// DTYPE: vector_add.target.toml.
#include "sum_runs.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK)
    vector_add(const real* __restrict__ a, const real* __restrict__ b, real* __restrict__ c,
               int n) {
  const int step = BLOCK * VECTOR;
  const long long tile = (long long)blockIdx.x * step * ITEMS;
  const long long first = tile + threadIdx.x * VECTOR;
  if (tile + (long long)step * ITEMS <= n) {
    add_runs<VECTOR, STREAM, ITEMS, BLOCK * VECTOR>(a + first, b + first, c + first);
    return;
  }
  for (long long i = first; i < n && i < tile + (long long)step * ITEMS; i += step) {
    if (i + VECTOR <= n) {
      add_runs<VECTOR, STREAM, 1, 0>(a + i, b + i, c + i);
    } else {
      for (long long j = i; j < n; ++j) c[j] = (wide)a[j] + (wide)b[j];
    }
  }
}

// The right answer, an element a thread. Grid n/256 rounded up, block 256.
extern "C" __global__ void vector_add_reference(const real* a, const real* b, reference_real* c,
                                                int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = (reference_real)(wide)a[i] + (reference_real)(wide)b[i];
}
