// SPDX-License-Identifier: Apache-2.0
// counts[b] = how many of keys[0..n-1] are b, for keys in 0 .. bins-1, in two kernels in a row:
//   clear      sets all counts to 0
//   histogram  gridDim.x blocks each take every gridDim.x-th stretch of BLOCK * VECTOR * ITEMS keys
// METHOD global: atomics on the counts themselves. METHOD shared: each block counts in shared memory
// first, in COPIES histograms, of which neighbouring warps use different ones; copies lie bins + PAD
// apart. dynamic shared memory: 4 * COPIES * (bins + PAD) bytes. keys are aligned to 16 bytes.
// Macros: histogram.target.toml. After Podlozhnyuk, "Histogram calculation in CUDA" (2007).

struct alignas(4 * VECTOR) Keys {
  int value[VECTOR];
};

extern "C" __global__ void clear(int* counts, int bins) {
  const int bin = blockIdx.x * blockDim.x + threadIdx.x;
  if (bin < bins) counts[bin] = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    histogram(const int* __restrict__ keys, int* __restrict__ counts, int n, int bins) {
#if METHOD == METHOD_SHARED
  extern __shared__ int copies[];
  for (int i = threadIdx.x; i < COPIES * (bins + PAD); i += BLOCK) copies[i] = 0;
  __syncthreads();
  int* const mine = copies + threadIdx.x / 32 % COPIES * (bins + PAD);
#else
  int* const mine = counts;
#endif

  const int vectors = n / VECTOR;
  const Keys* const from = reinterpret_cast<const Keys*>(keys);
  const long long step = (long long)gridDim.x * BLOCK * ITEMS;
  for (long long first = (long long)blockIdx.x * BLOCK * ITEMS; first < vectors; first += step) {
    Keys loaded[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const long long i = first + item * BLOCK + threadIdx.x;
      if (i < vectors) loaded[item] = from[i];
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      if (first + item * BLOCK + threadIdx.x >= vectors) continue;
#pragma unroll
      for (int j = 0; j < VECTOR; ++j) atomicAdd(mine + loaded[item].value[j], 1);
    }
  }
  const int rest = vectors * VECTOR + threadIdx.x;  // fewer than VECTOR keys
  if (blockIdx.x == 0 && rest < n) atomicAdd(mine + keys[rest], 1);

#if METHOD == METHOD_SHARED
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += BLOCK) {
    int count = 0;
#pragma unroll
    for (int copy = 0; copy < COPIES; ++copy) count += copies[copy * (bins + PAD) + bin];
    if (count > 0) atomicAdd(counts + bin, count);
  }
#endif
}

// The right answer: plain atomics, after `clear`.
extern "C" __global__ void histogram_reference(const int* keys, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(counts + keys[i], 1);
  }
}
