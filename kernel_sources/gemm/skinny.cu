// SPDX-License-Identifier: Apache-2.0
// Few rows of A times a B that is read once, in 16 bits: the layers of a language model that decodes;
// with SWAP, few columns of B times an A that is read once. Nothing goes through shared memory but
// sums: each lane loads 16 bytes at a time straight into the registers that mma.sync reads, UNROLL
// steps ahead. The long operand has the rows of its tile, the short one its columns. Elements that a
// lane loads together take places that lie apart in the tile, the same for both operands.
//
// Both lie along k. Grid (ceil(columns / kColumns) * K_PARTS, products). Block 32 * WARPS_N *
// K_GROUPS: groups of warps, and the blocks of a cluster, add up parts of k: lines of the L2 cache in
// turn. With WHOLE_PARTS they add up the parts of gemm_wgmma, in the same order. From compute
// capability 8.0 on.
#include "device/cluster.cuh"
#include "device/early_start.cuh"
#include "device/mma.cuh"

struct Skinny : PlacedConfiguration {
  static constexpr int kTiles = TILES, kWarps = WARPS_N, kGroups = K_GROUPS, kParts = K_PARTS;
  static constexpr int kAhead = UNROLL, kRowTiles = ROW_TILES;
  static constexpr bool kWholeParts = WHOLE_PARTS;
  static constexpr int kStep = 64;                       // of k: a line of the L2 cache, two halves
  static constexpr int kColumns = 16 * kTiles * kWarps;  // of the long operand, a block
  static constexpr int kRows = 8 * kRowTiles;            // of the short one
};

struct Words {
  unsigned word[4];
};

/// 16 bytes, or with kWholeParts 8 bytes and 8 that lie 32 further; or zeros.
template <bool once>
__device__ __forceinline__ Words loaded(const element* from, bool valid, bool next_valid) {
  if constexpr (Skinny::kWholeParts) {
    const auto two = [&](const element* at, bool is_valid) {
      const uint2* const both = reinterpret_cast<const uint2*>(at);
      return !is_valid ? make_uint2(0, 0) : once ? __ldcs(both) : __ldg(both);
    };
    const uint2 first = two(from, valid), second = two(from + 16, next_valid);
    return {{first.x, first.y, second.x, second.y}};
  } else {
    const uint4* const all = reinterpret_cast<const uint4*>(from);
    const uint4 words = !valid ? make_uint4(0, 0, 0, 0) : once ? __ldcs(all) : __ldg(all);
    return {{words.x, words.y, words.z, words.w}};
  }
}

/// What a lane holds of one step, of each half and of each line: 8 of k from lane % 4 * 8 on. With
/// kWholeParts 4 of each 16, so that an instruction adds the same 16 as wgmma.
struct SkinnyStep {
  typedef float Sums[Skinny::kTiles][Skinny::kRowTiles][4];
  Words columns[Skinny::kTiles][2][2];  // lines lane / 4 of a tile, and 8 further; halves
  Words rows[Skinny::kRowTiles][2];

  __device__ __forceinline__ void load(const element* const (&lines)[2 * Skinny::kTiles],
                                       const element* const (&few)[Skinny::kRowTiles], int k, int K) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = k + 32 * half;
      const bool valid = at < K, next_valid = at + 16 < K;
#pragma unroll
      for (int i = 0; i < 2 * Skinny::kTiles; ++i)
        columns[i / 2][i % 2][half] = loaded<true>(lines[i] + at, valid, next_valid);
#pragma unroll
      for (int tile = 0; tile < Skinny::kRowTiles; ++tile)
        rows[tile][half] = loaded<false>(few[tile] + at, valid, next_valid);
    }
  }

  __device__ __forceinline__ void multiply(Sums& sums) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int tile = 0; tile < Skinny::kTiles; ++tile) {
#pragma unroll
        for (int at = 0; at < 4; at += 2) {
          const Words &upper = columns[tile][0][half], &lower = columns[tile][1][half];
          const unsigned words[4] = {upper.word[at], lower.word[at], upper.word[at + 1],
                                     lower.word[at + 1]};
#pragma unroll
          for (int m = 0; m < Skinny::kRowTiles; ++m) {
            const Words& row = rows[m][half];
            multiply_tiles<Skinny::kFactor>(sums[tile][m], words, row.word[at], row.word[at + 1]);
          }
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
  const element *const long_one = SWAP ? A : B, *const short_one = SWAP ? B : A;
  const long long long_ld = SWAP ? batch.lda : batch.ldb, short_ld = SWAP ? batch.ldb : batch.lda;
  const int columns = SWAP ? M : N, rows = SWAP ? N : M;
  const int part = S::kParts == 1 ? 0 : cluster_rank();
  const int first = blockIdx.x / S::kParts * S::kColumns;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int of_warp = warp % S::kWarps * 16 * S::kTiles, group = warp / S::kWarps;

  // Past an edge the last line is read again; its sums are never stored.
  const element *lines[2 * S::kTiles], *few[S::kRowTiles];
#pragma unroll
  for (int i = 0; i < 2 * S::kTiles; ++i) {
    const int at = first + of_warp + lane / 4 + 8 * i;
    lines[i] = long_one + min(at, columns - 1) * long_ld;
  }
#pragma unroll
  for (int i = 0; i < S::kRowTiles; ++i)
    few[i] = short_one + min(8 * i + lane / 4, rows - 1) * short_ld;

  constexpr int kStride = S::kStep * (S::kWholeParts ? 1 : S::kGroups * S::kParts);
  constexpr int kOfLane = S::kWholeParts ? 4 : 8;
  int first_step = part * S::kGroups + group, length = K;
  if constexpr (S::kWholeParts) {
    const int depth = (K + S::kStep - 1) / S::kStep;
    first_step = depth * group / S::kGroups;
    length = min(K, depth * (group + 1) / S::kGroups * S::kStep);
  }
  SkinnyStep::Sums sums = {};
  SkinnyStep steps[S::kAhead];
  int k = first_step * S::kStep + lane % 4 * kOfLane;
  const int end = length + lane % 4 * kOfLane;  // the same number of steps for all lanes
#pragma unroll
  for (int i = 0; i < S::kAhead; ++i) steps[i].load(lines, few, k + i * kStride, length);
  for (; k < end; k += S::kAhead * kStride) {
#pragma unroll
    for (int i = 0; i < S::kAhead; ++i) {
      steps[i].multiply(sums);
      steps[i].load(lines, few, k + (i + S::kAhead) * kStride, length);
    }
  }

#pragma unroll
  for (int tile = 0; tile < S::kTiles; ++tile) {
#pragma unroll
    for (int m = 0; m < S::kRowTiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        partial[group][8 * m + lane % 4 * 2 + i % 2][of_warp + 16 * tile + lane / 4 + i / 2 * 8] =
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
  for (int i = part * kThreads + threadIdx.x; i < rows * S::kColumns; i += kThreads * S::kParts) {
    const int row = SWAP ? i % rows : i / S::kColumns;
    const int column = SWAP ? i / rows : i % S::kColumns;
    if (first + column >= columns) continue;
    float sum = 0;
#pragma unroll
    for (int block = 0; block < S::kParts; ++block) {
#pragma unroll
      for (int other = 0; other < S::kGroups; ++other) {
        const float* const from = &partial[other][row][column];
        sum += S::kParts == 1 ? *from : *in_block(from, block);
      }
    }
    const int m = SWAP ? first + column : row, n = SWAP ? row : first + column;
    D[(long long)m * batch.ldd + n] = out.template value<S::kScale, S::kEpilogue>(sum, m, n);
  }
  if constexpr (S::kParts > 1) cluster_barrier();  // others still read this block's sums
}
