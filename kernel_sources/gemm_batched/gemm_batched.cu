// SPDX-License-Identifier: Apache-2.0
// C[b] = A[b] B[b] for b < batch: many small products, A m x k, B k x n, C m x n, row-major, one
// after another in memory, any size. A block makes tiles of (BLOCK_Y·TM) x (BLOCK_X·TN) of one or
// more products; a thread's TM x TN elements are BLOCK_Y and BLOCK_X apart. METHOD shared: slices
// of BK of both operands are staged in shared memory, element · BK · (BLOCK_Y·TM + BLOCK_X·TN)
// bytes; direct: read where they lie. Grid (n, m) over the tile rounded up, then min(batch, 65535).
// Macros METHOD BLOCK_X BLOCK_Y TM TN BK DTYPE: gemm_batched.target.json.
#include "element.cuh"

#define TILE_M (BLOCK_Y * TM)
#define TILE_N (BLOCK_X * TN)

/// sums += a column of TM elements of A times a row of TN elements of B.
__device__ inline void rank_one(const real (&column)[TM], const real (&row)[TN],
                                real (&sums)[TM][TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) sums[i][j] += column[i] * row[j];
  }
}

__device__ inline void multiply(const real* __restrict__ a, const real* __restrict__ b,
                                real* __restrict__ c, int m, int n, int k) {
  const int tile_m = blockIdx.y * TILE_M, tile_n = blockIdx.x * TILE_N;
  real sums[TM][TN] = {}, column[TM], row[TN];
#if METHOD == METHOD_SHARED
  __shared__ real a_tile[TILE_M][BK + 1];
  __shared__ real b_tile[BK][TILE_N];
  const int thread = threadIdx.y * BLOCK_X + threadIdx.x, threads = BLOCK_X * BLOCK_Y;
  for (int slice = 0; slice < k; slice += BK) {
    for (int i = thread; i < TILE_M * BK; i += threads) {
      const int y = tile_m + i / BK, x = slice + i % BK;
      a_tile[i / BK][i % BK] = y < m && x < k ? a[(long long)y * k + x] : real(0);
    }
    for (int i = thread; i < BK * TILE_N; i += threads) {
      const int y = slice + i / TILE_N, x = tile_n + i % TILE_N;
      b_tile[i / TILE_N][i % TILE_N] = y < k && x < n ? b[(long long)y * n + x] : real(0);
    }
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < BK; ++kk) {
#pragma unroll
      for (int i = 0; i < TM; ++i) column[i] = a_tile[threadIdx.y + i * BLOCK_Y][kk];
#pragma unroll
      for (int j = 0; j < TN; ++j) row[j] = b_tile[kk][threadIdx.x + j * BLOCK_X];
      rank_one(column, row, sums);
    }
    __syncthreads();
  }
#else
  const int y0 = tile_m + threadIdx.y, x0 = tile_n + threadIdx.x;
  for (int kk = 0; kk < k; ++kk) {
#pragma unroll
    for (int i = 0; i < TM; ++i) column[i] = a[(long long)min(y0 + i * BLOCK_Y, m - 1) * k + kk];
    if (tile_n + TILE_N <= n) {
#pragma unroll
      for (int j = 0; j < TN; ++j) row[j] = b[(long long)kk * n + x0 + j * BLOCK_X];
    } else {
#pragma unroll
      for (int j = 0; j < TN; ++j) row[j] = b[(long long)kk * n + min(x0 + j * BLOCK_X, n - 1)];
    }
    rank_one(column, row, sums);
  }
#endif
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int y = tile_m + threadIdx.y + i * BLOCK_Y;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int x = tile_n + threadIdx.x + j * BLOCK_X;
      if (y < m && x < n) c[(long long)y * n + x] = sums[i][j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_batched(const real* a, const real* b, real* c, int batch, int m, int n, int k) {
  for (long long i = blockIdx.z; i < batch; i += gridDim.z) {
    multiply(a + i * m * k, b + i * k * n, c + i * m * n, m, n, k);
  }
}

// The right answer, an element a thread. Grid batch·m·n/256 rounded up, block 256.
extern "C" __global__ void gemm_batched_reference(const real* a, const real* b, reference_real* c,
                                                  int batch, int m, int n, int k) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long each = (long long)m * n;
  if (at >= batch * each) return;
  const real* row = a + at / each * m * k + at % each / n * k;
  const real* column = b + at / each * k * n + at % each % n;
  reference_real sum = 0;
  for (int i = 0; i < k; ++i) sum += (reference_real)row[i] * column[(long long)i * n];
  c[at] = sum;
}
