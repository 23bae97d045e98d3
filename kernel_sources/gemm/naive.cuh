// SPDX-License-Identifier: Apache-2.0
// Straight from global memory: a thread makes a TILE_SIZE x TILE_SIZE piece of D from register
// vectors. TILE_SIZE 1 is the textbook kernel.
// Block BLOCK_SIZE x BLOCK_SIZE; any grid is right (grid-stride loops over the pieces); no shared
// memory; any M, N, K.
#pragma once

// Beyond 16x16 the sums no longer fit the registers; unrolling them would only cost compile time.
#if TILE_SIZE <= 16
#define NAIVE_UNROLL _Pragma("unroll")
#else
#define NAIVE_UNROLL _Pragma("unroll 1")
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_naive(GEMM_ARGUMENTS) {
  constexpr int kTile = TILE_SIZE;
  GEMM_SELECT_BATCH(blockIdx.z)
  const int step_m = gridDim.y * BLOCK_SIZE * kTile;
  const int step_n = gridDim.x * BLOCK_SIZE * kTile;
  for (int m0 = (blockIdx.y * BLOCK_SIZE + threadIdx.y) * kTile; m0 < M; m0 += step_m) {
    for (int n0 = (blockIdx.x * BLOCK_SIZE + threadIdx.x) * kTile; n0 < N; n0 += step_n) {
      real sum[kTile][kTile];
      NAIVE_UNROLL
      for (int i = 0; i < kTile; ++i) {
        NAIVE_UNROLL
        for (int j = 0; j < kTile; ++j) sum[i][j] = 0;
      }
      for (int k = 0; k < K; ++k) {
        real a[kTile], b[kTile];
        // Past an edge the last row or column is read again; its sums are never written.
        NAIVE_UNROLL
        for (int i = 0; i < kTile; ++i) a[i] = a_at(A, lda, min(m0 + i, M - 1), k);
        NAIVE_UNROLL
        for (int j = 0; j < kTile; ++j) b[j] = b_at(B, ldb, k, min(n0 + j, N - 1));
        NAIVE_UNROLL
        for (int i = 0; i < kTile; ++i) {
          NAIVE_UNROLL
          for (int j = 0; j < kTile; ++j) sum[i][j] += a[i] * b[j];
        }
      }
      NAIVE_UNROLL
      for (int i = 0; i < kTile; ++i) {
        NAIVE_UNROLL
        for (int j = 0; j < kTile; ++j) {
          if (m0 + i < M && n0 + j < N) {
            D[(long long)(m0 + i) * ldd + n0 + j] =
                scaled(sum[i][j], alpha, beta, C, (long long)(m0 + i) * ldc + n0 + j);
          }
        }
      }
    }
  }
}
