// SPDX-License-Identifier: Apache-2.0
// Work-efficient exclusive scan of one block's elements; partial sums go to a second array.
#include <cuda_runtime.h>
#include <assert.h>

#define THREADS 256
#define LOG_BANKS 5
#define CONFLICT_FREE(n) ((n) >> LOG_BANKS)

__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  extern __shared__ int temp[];
  const int tid = threadIdx.x;
  const int base = blockIdx.x * 2 * THREADS;
  const int ai = tid, bi = tid + THREADS;
  temp[ai + CONFLICT_FREE(ai)] = base + ai < n ? in[base + ai] : 0;
  temp[bi + CONFLICT_FREE(bi)] = base + bi < n ? in[base + bi] : 0;
  int offset = 1;
  for (int d = THREADS; d > 0; d >>= 1) {
    __syncthreads();
    if (tid < d) {
      int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
      a += CONFLICT_FREE(a);
      b += CONFLICT_FREE(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (tid == 0) {
    const int last = 2 * THREADS - 1 + CONFLICT_FREE(2 * THREADS - 1);
    sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < 2 * THREADS; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (tid < d) {
      int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
      a += CONFLICT_FREE(a);
      b += CONFLICT_FREE(b);
      int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  if (base + ai < n) out[base + ai] = temp[ai + CONFLICT_FREE(ai)];
  if (base + bi < n) out[base + bi] = temp[bi + CONFLICT_FREE(bi)];
}

void scan(const int* in, int* out, int* sums, int n) {
  const int blocks = (n + 2 * THREADS - 1) / (2 * THREADS);
  const size_t bytes = (2 * THREADS + CONFLICT_FREE(2 * THREADS)) * sizeof(int);
  scan_blocks<<<blocks, THREADS, bytes>>>(in, out, sums, n);
}
