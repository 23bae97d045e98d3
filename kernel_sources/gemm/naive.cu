// SPDX-License-Identifier: Apache-2.0
// Straight from global memory: a thread makes a TILE_SIZE x TILE_SIZE tile of D in registers.
// TILE_SIZE 1 is the textbook kernel.
// Block BLOCK_SIZE x BLOCK_SIZE. Any grid is right, because threads stride over the tiles. No
// shared memory; any M, N, K.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_naive(GEMM_ARGUMENTS) {
  using Config = ProblemConfiguration;
  constexpr int kBlock = BLOCK_SIZE, kTile = TILE_SIZE;
  const Problem p = PRODUCT(blockIdx.z);
  // Beyond 16x16 the sums do not fit the registers; unrolling would only cost compile time.
  constexpr int kUnroll = kTile <= 16 ? kTile : 1;
  const int step_m = gridDim.y * kBlock * kTile;
  const int step_n = gridDim.x * kBlock * kTile;
  for (int m0 = (blockIdx.y * kBlock + threadIdx.y) * kTile; m0 < p.M; m0 += step_m) {
    for (int n0 = (blockIdx.x * kBlock + threadIdx.x) * kTile; n0 < p.N; n0 += step_n) {
      real sum[kTile][kTile];
#pragma unroll kUnroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll kUnroll
        for (int j = 0; j < kTile; ++j) sum[i][j] = 0;
      }
      for (int k = 0; k < p.K; ++k) {
        real a[kTile], b[kTile];
        // Past an edge the last row or column is read again; its sums are never written.
#pragma unroll kUnroll
        for (int i = 0; i < kTile; ++i) a[i] = a_at<Config>(p, min(m0 + i, p.M - 1), k);
#pragma unroll kUnroll
        for (int j = 0; j < kTile; ++j) b[j] = b_at<Config>(p, k, min(n0 + j, p.N - 1));
#pragma unroll kUnroll
        for (int i = 0; i < kTile; ++i) {
#pragma unroll kUnroll
          for (int j = 0; j < kTile; ++j) sum[i][j] += a[i] * b[j];
        }
      }
#pragma unroll kUnroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll kUnroll
        for (int j = 0; j < kTile; ++j) {
          if (m0 + i < p.M && n0 + j < p.N) store<Config>(p, m0 + i, n0 + j, sum[i][j]);
        }
      }
    }
  }
}
