// SPDX-License-Identifier: Apache-2.0
// Few rows of A times a B that is read once, in 16 bits, both along k: the layer of a language model
// that decodes. Nothing goes through shared memory but sums: each lane loads 16 bytes at a time of
// columns of op(B) straight into the registers that mma.sync reads, UNROLL steps ahead. For mma.sync,
// columns of op(B) are the rows of its tile, and rows of A its columns; elements of k that a lane
// loads together take the places of elements that lie apart, the same in both operands.
//
// Grid (ceil(N / (16 * TILES * WARPS_N)) * K_PARTS, products). Block 32 * WARPS_N * K_GROUPS. The
// warps of a group along n, and the blocks of a cluster, add up parts of k. M <= 8 * ROW_TILES.
// From compute capability 8.0 on.
#include "device/cluster.cuh"
#include "device/early_start.cuh"
#include "device/mma.cuh"

struct Skinny : PlacedConfiguration {
  static constexpr int kTiles = TILES, kWarps = WARPS_N, kGroups = K_GROUPS, kParts = K_PARTS;
  static constexpr int kAhead = UNROLL, kRowTiles = ROW_TILES;
  static constexpr int kStep = 64;                      // of k: a line of the L2 cache
  static constexpr int kColumns = 16 * kTiles * kWarps;  // of D, a block
  static constexpr int kRows = 8 * kRowTiles;
};

/// What a lane holds of one step: 16 bytes at k and 16 bytes 32 elements later.
struct SkinnyStep {
  uint4 columns[Skinny::kTiles][2][2];  // lane / 4 of a tile, and 8 further
  uint4 rows[Skinny::kRowTiles][2];

  /// Zeros beyond K. `b` and `a` are those of the lane's first line.
  __device__ __forceinline__ void load(const element* const (&b)[Skinny::kTiles][2],
                                       const element* const (&a)[Skinny::kRowTiles], int k, int K) {
    const uint4 zeros = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = k + 32 * half;
      const bool valid = at < K;
#pragma unroll
      for (int tile = 0; tile < Skinny::kTiles; ++tile) {
#pragma unroll
        for (int low = 0; low < 2; ++low)
          columns[tile][low][half] =
              valid ? __ldcs(reinterpret_cast<const uint4*>(b[tile][low] + at)) : zeros;
      }
#pragma unroll
      for (int tile = 0; tile < Skinny::kRowTiles; ++tile)
        rows[tile][half] = valid ? __ldg(reinterpret_cast<const uint4*>(a[tile] + at)) : zeros;
    }
  }

  __device__ __forceinline__ void multiply(float (&sums)[Skinny::kTiles][Skinny::kRowTiles][4]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int tile = 0; tile < Skinny::kTiles; ++tile) {
        const uint4 high = columns[tile][0][half], low = columns[tile][1][half];
        const unsigned first[4] = {high.x, low.x, high.y, low.y};
        const unsigned second[4] = {high.z, low.z, high.w, low.w};
#pragma unroll
        for (int m = 0; m < Skinny::kRowTiles; ++m) {
          const uint4 row = rows[m][half];
          multiply_tiles<Skinny::kFactor>(sums[tile][m], first, row.x, row.y);
          multiply_tiles<Skinny::kFactor>(sums[tile][m], second, row.z, row.w);
        }
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_N * K_GROUPS, MIN_BLOCKS)
    gemm_skinny(const element* __restrict__ A, const element* __restrict__ B, const result* C,
                const result* bias, result* D, float alpha, float beta, int M, int N,
                int K PLACES) {
  using S = Skinny;
  __shared__ float partial[S::kGroups][S::kRows][S::kColumns];
  follow_kernel_ahead();
  const Batch batch = BATCH;
  if constexpr (S::kBatched) {
    A += blockIdx.y * batch.stride_a, B += blockIdx.y * batch.stride_b;
    C += blockIdx.y * batch.stride_c, D += blockIdx.y * batch.stride_d;
  }
  const Output<float, result> out{C, bias, alpha, beta, M, N, batch.ldc, batch.ldd};
  const int part = S::kParts == 1 ? 0 : cluster_rank();
  const int n0 = blockIdx.x / S::kParts * S::kColumns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int across = warp % S::kWarps * 16 * S::kTiles, group = warp / S::kWarps;

  // Past an edge the last line is read again; its sums are never stored.
  const element *b[S::kTiles][2], *a[S::kRowTiles];
#pragma unroll
  for (int i = 0; i < 2 * S::kTiles; ++i) {
    const int n = min(n0 + across + 8 * i + lane / 4, N - 1);
    b[i / 2][i % 2] = B + (long long)n * batch.ldb;
  }
#pragma unroll
  for (int i = 0; i < S::kRowTiles; ++i)
    a[i] = A + (long long)min(8 * i + lane / 4, M - 1) * batch.lda;

  constexpr int kStride = S::kStep * S::kGroups * S::kParts;
  float sums[S::kTiles][S::kRowTiles][4] = {};
  SkinnyStep steps[S::kAhead];
  int k = (part * S::kGroups + group) * S::kStep + lane % 4 * 8;
  const int end = K + lane % 4 * 8;  // the same number of steps for all lanes
#pragma unroll
  for (int i = 0; i < S::kAhead; ++i) steps[i].load(b, a, k + i * kStride, K);
  for (; k < end; k += S::kAhead * kStride) {
#pragma unroll
    for (int i = 0; i < S::kAhead; ++i) {
      steps[i].multiply(sums);
      steps[i].load(b, a, k + (i + S::kAhead) * kStride, K);
    }
  }

#pragma unroll
  for (int tile = 0; tile < S::kTiles; ++tile) {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        partial[group][8 * m + lane % 4 * 2 + i % 2][across + 16 * tile + lane / 4 + i / 2 * 8] =
            sums[tile][m][i];
    }
  }
  if constexpr (S::kParts == 1) {
    __syncthreads();
  } else {
    cluster_barrier();
  }
  // A block of a cluster finishes its share.
  constexpr int kThreads = 32 * S::kWarps * S::kGroups;
  for (int i = part * kThreads + threadIdx.x; i < M * S::kColumns; i += kThreads * S::kParts) {
    const int m = i / S::kColumns, n = i % S::kColumns;
    if (n0 + n >= N) continue;
    float sum = 0;
#pragma unroll
    for (int block = 0; block < S::kParts; ++block) {
#pragma unroll
      for (int other = 0; other < S::kGroups; ++other) {
        const float* const from = &partial[other][m][n];
        sum += S::kParts == 1 ? *from : *in_block(from, block);
      }
    }
    D[(long long)m * batch.ldd + n0 + n] =
        out.template value<S::kScale, S::kEpilogue>(sum, m, n0 + n);
  }
  if constexpr (S::kParts > 1) cluster_barrier();  // others still read this block's sums
}
