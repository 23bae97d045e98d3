// SPDX-License-Identifier: Apache-2.0
// Tiles of A and B staged in shared memory, a TILE_SIZE x TILE_SIZE piece of D a thread.
// A block makes a square of edge BLOCK_SIZE * TILE_SIZE in slices of BLOCK_SIZE along k.
// Grid (N/edge, M/edge, BATCH) rounded up, block BLOCK_SIZE x BLOCK_SIZE; any M, N, K: past the
// edges zeros are staged. Static shared memory: one pair of tiles, two for PREFETCH shared.
//   PREFETCH  none      load, barrier, multiply, barrier
//             register  the next slice is on its way into registers during the multiplication
//             shared    the next slice is loaded into a second pair of tiles meanwhile
//   A_LAYOUT  plain [m][k], padded [m][k] with rows one longer, transposed [k][m]
#pragma once

constexpr int kDepth = BLOCK_SIZE;
constexpr int kEdge = BLOCK_SIZE * TILE_SIZE;
constexpr int kStages = PREFETCH == PREFETCH_SHARED ? 2 : 1;
constexpr int kATileRow = A_LAYOUT == A_LAYOUT_TRANSPOSED ? kEdge
                          : A_LAYOUT == A_LAYOUT_PADDED   ? kDepth + 1
                                                          : kDepth;
constexpr int kATile = A_LAYOUT == A_LAYOUT_TRANSPOSED ? kDepth * kATileRow : kEdge * kATileRow;
constexpr int kBTile = kDepth * kEdge;

__device__ inline real& a_tile_at(real* tile, int m, int k) {
  return A_LAYOUT == A_LAYOUT_TRANSPOSED ? tile[k * kATileRow + m] : tile[m * kATileRow + k];
}

/// The elements of one slice that a thread carries: TILE_SIZE of A and as many of B.
struct Carried {
  real a[TILE_SIZE], b[TILE_SIZE];
};

__device__ inline Carried load_slice(const real* A, const real* B, int M, int N, int K, int lda,
                                     int ldb, int m0, int n0, int k0) {
  Carried carried;
  const int k_of_a = k0 + threadIdx.x, k_of_b = k0 + threadIdx.y;
#pragma unroll
  for (int i = 0; i < TILE_SIZE; ++i) {
    const int m = m0 + threadIdx.y + i * BLOCK_SIZE, n = n0 + threadIdx.x + i * BLOCK_SIZE;
    carried.a[i] = m < M && k_of_a < K ? a_at(A, lda, m, k_of_a) : real(0);
    carried.b[i] = n < N && k_of_b < K ? b_at(B, ldb, k_of_b, n) : real(0);
  }
  return carried;
}

__device__ inline void store_slice(const Carried& carried, real* a_tile, real* b_tile) {
#pragma unroll
  for (int i = 0; i < TILE_SIZE; ++i) {
    a_tile_at(a_tile, threadIdx.y + i * BLOCK_SIZE, threadIdx.x) = carried.a[i];
    b_tile[threadIdx.y * kEdge + threadIdx.x + i * BLOCK_SIZE] = carried.b[i];
  }
}

__device__ inline void multiply_slice(real* a_tile, const real* b_tile,
                                      real (&sum)[TILE_SIZE][TILE_SIZE]) {
#pragma unroll
  for (int k = 0; k < kDepth; ++k) {
    real a[TILE_SIZE], b[TILE_SIZE];
#pragma unroll
    for (int i = 0; i < TILE_SIZE; ++i) {
      a[i] = a_tile_at(a_tile, threadIdx.y + i * BLOCK_SIZE, k);
      b[i] = b_tile[k * kEdge + threadIdx.x + i * BLOCK_SIZE];
    }
#pragma unroll
    for (int i = 0; i < TILE_SIZE; ++i) {
#pragma unroll
      for (int j = 0; j < TILE_SIZE; ++j) sum[i][j] += a[i] * b[j];
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_tiled(GEMM_ARGUMENTS) {
  __shared__ real a_tiles[kStages][kATile];
  __shared__ real b_tiles[kStages][kBTile];
  GEMM_SELECT_BATCH(blockIdx.z)
  const int m0 = blockIdx.y * kEdge, n0 = blockIdx.x * kEdge;
  real sum[TILE_SIZE][TILE_SIZE] = {};

  Carried next = load_slice(A, B, M, N, K, lda, ldb, m0, n0, 0);
  int stage = 0;
  for (int k0 = 0; k0 < K; k0 += kDepth) {
    store_slice(next, a_tiles[stage], b_tiles[stage]);
    __syncthreads();
    const bool more = k0 + kDepth < K;
    if (PREFETCH != PREFETCH_NONE && more)
      next = load_slice(A, B, M, N, K, lda, ldb, m0, n0, k0 + kDepth);
    multiply_slice(a_tiles[stage], b_tiles[stage], sum);
    if (PREFETCH == PREFETCH_SHARED) {
      stage ^= 1;  // nobody still reads the other pair: all passed the barrier after using it
    } else {
      __syncthreads();
    }
    if (PREFETCH == PREFETCH_NONE && more)
      next = load_slice(A, B, M, N, K, lda, ldb, m0, n0, k0 + kDepth);
  }

#pragma unroll
  for (int i = 0; i < TILE_SIZE; ++i) {
#pragma unroll
    for (int j = 0; j < TILE_SIZE; ++j) {
      const int m = m0 + threadIdx.y + i * BLOCK_SIZE, n = n0 + threadIdx.x + j * BLOCK_SIZE;
      if (m < M && n < N)
        D[(long long)m * ldd + n] = scaled(sum[i][j], alpha, beta, C, (long long)m * ldc + n);
    }
  }
}
