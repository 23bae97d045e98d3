// SPDX-License-Identifier: Apache-2.0
// Few rows of A times a B that is read once, in f32 on tensor cores, with the bits of split.cu: a
// slab of k is summed from zero, by the same products of planes in the same order, and the slabs
// are added in the order of k. So slabs can be summed by as many warps and blocks as there are.
// With SWAP, few columns of B times an A that is read once.
//
// Each lane loads 16 bytes at a time straight into the registers that it splits and mma.sync reads.
// The long operand has the rows of a tile, the short one its columns. The four elements of k that a
// lane loads take places that lie apart in the tile, the same for both operands. The sums of all
// slabs stay in shared memory until the end.
//
// Elements that planes cannot hold, or sums that may not be those of f32, are summed again on CUDA
// cores, from the operands themselves. Both operands lie along k. Grid ceil(columns / kColumns) *
// ceil(rows / ROWS) * K_PARTS. Block 32 * K_GROUPS: a warp sums every K_GROUPS-th slab of the
// block's; blocks of a cluster have parts of k.
#include "device/cluster.cuh"
#include "device/mma.cuh"
#include "planes.cuh"

struct SkinnySplit : ProblemConfiguration {
  static constexpr bool kSwapped = SWAP;
  static constexpr int kTiles = TILES, kRowTiles = ROWS / 8, kGroups = K_GROUPS, kParts = K_PARTS;
  static constexpr int kThreads = 32 * kGroups;
  static constexpr int kColumns = 16 * kTiles;                            // of the long operand
  static constexpr int kRows = ROWS;                                      // of the short one
  static constexpr int kTogether = kRowTiles > 1 && kTiles == 1 ? 2 : 1;  // of its tiles
  static constexpr int kPitch = kColumns + 4;  // so that lanes write to different banks
  static constexpr int kSteps = kSlab / 16;
};

/// What a lane has of a line in a slab: four elements of each 16.
struct LinePart {
  typedef unsigned PartPlanes[kPlanes][SkinnySplit::kSteps][2];
  float4 fours[SkinnySplit::kSteps];

  /// Zeros from K on, which is a multiple of 4.
  template <bool once>
  __device__ __forceinline__ void load(const float* line, int k, int K) {
#pragma unroll
    for (int step = 0; step < SkinnySplit::kSteps; ++step) {
      const int at = k + 16 * step + threadIdx.x % 4 * 4;
      const float4* const from = reinterpret_cast<const float4*>(line + at);
      fours[step] = at >= K ? make_float4(0, 0, 0, 0) : once ? __ldcs(from) : __ldg(from);
    }
  }

  __device__ __forceinline__ void split_into(PartPlanes& planes, SplitRange& range) const {
#pragma unroll
    for (int step = 0; step < SkinnySplit::kSteps; ++step) {
      const Pair pairs[2] = {{fours[step].x, fours[step].y}, {fours[step].z, fours[step].w}};
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        range.take_least(pairs[i].first);
        range.take_least(pairs[i].second);
        unsigned of_pair[kPlanes];
        split(pairs[i], of_pair);
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane) planes[plane][step][i] = of_pair[plane];
      }
    }
  }
};

/// A block's part of the problem. `sums`: of each of its slabs, [kRows][kPitch].
struct SkinnySplitBlock {
  using S = SkinnySplit;
  const Problem& p;
  float* sums;
  int first, first_row;  // of the long operand's lines, of the short one's
  int begin, end;        // slabs

  __device__ __forceinline__ int long_lines() const { return S::kSwapped ? p.M : p.N; }
  __device__ __forceinline__ int short_lines() const { return S::kSwapped ? p.N : p.M; }
  // Past an edge the last line is read again; its sums are never stored.
  __device__ __forceinline__ const float* long_line(int i) const {
    const long long line = min(first + i, long_lines() - 1);
    return S::kSwapped ? p.A + line * p.lda : p.B + line * p.ldb;
  }
  __device__ __forceinline__ const float* short_line(int i) const {
    const long long line = min(first_row + i, short_lines() - 1);
    return S::kSwapped ? p.B + line * p.ldb : p.A + line * p.lda;
  }
  __device__ __forceinline__ float* sums_of(int slab) const {
    return sums + (slab - begin) * S::kRows * S::kPitch;
  }

  /// Sums this warp's slabs. Returns whether planes could not hold an element of this lane.
  __device__ __forceinline__ bool sum_slabs() const {
    const int of_quad = threadIdx.x % 32 / 4;
    SplitRange range;
    LinePart lines[2 * S::kTiles], few[S::kTogether];
    // The next elements come while those before are multiplied.
    const auto load_few = [&](int slab, int first_tile) {
#pragma unroll
      for (int i = 0; i < S::kTogether; ++i)
        few[i].template load<false>(short_line(8 * (first_tile + i) + of_quad), slab * kSlab, p.K);
    };
    const auto load = [&](int slab) {
      if (slab >= end) return;
#pragma unroll
      for (int i = 0; i < 2 * S::kTiles; ++i)
        lines[i].template load<true>(long_line(8 * i + of_quad), slab * kSlab, p.K);
      load_few(slab, 0);
    };
    int slab = begin + threadIdx.x / 32;
    load(slab);
    for (; slab < end; slab += S::kGroups) {
      LinePart::PartPlanes columns[2 * S::kTiles];
#pragma unroll
      for (int i = 0; i < 2 * S::kTiles; ++i) lines[i].split_into(columns[i], range);
#pragma unroll
      for (int m = 0; m < S::kRowTiles; m += S::kTogether) {
        LinePart::PartPlanes rows[S::kTogether];
#pragma unroll
        for (int i = 0; i < S::kTogether; ++i) few[i].split_into(rows[i], range);
        if (m + S::kTogether < S::kRowTiles) {
          load_few(slab, m + S::kTogether);
        } else {
          load(slab + S::kGroups);
        }
        multiply(columns, rows, sums_of(slab) + 8 * m * S::kPitch);
      }
    }
    return range.is_left();
  }

  /// All products of a slab for some rows, the smallest first.
  static __device__ __forceinline__ void multiply(
      const LinePart::PartPlanes (&columns)[2 * S::kTiles],
      const LinePart::PartPlanes (&rows)[S::kTogether], float* to) {
    float sums[S::kTiles][S::kTogether][4] = {};
#pragma unroll
    for (int product = 0; product < kProducts; ++product) {
      const int of_column = plane_of<S::kSwapped>(product),
                of_row = plane_of<!S::kSwapped>(product);
#pragma unroll
      for (int step = 0; step < S::kSteps; ++step) {
#pragma unroll
        for (int tile = 0; tile < S::kTiles; ++tile) {
          const unsigned(&upper)[2] = columns[2 * tile][of_column][step];
          const unsigned(&lower)[2] = columns[2 * tile + 1][of_column][step];
          const unsigned words[4] = {upper[0], lower[0], upper[1], lower[1]};
#pragma unroll
          for (int m = 0; m < S::kTogether; ++m) {
            const unsigned(&row)[2] = rows[m][of_row][step];
            multiply_tiles<Factor::bf16>(sums[tile][m], words, row[0], row[1]);
          }
        }
      }
    }
    to += threadIdx.x % 4 * 2 * S::kPitch + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < S::kTiles * S::kTogether * 4; ++i) {
      const int tile = i / 4 / S::kTogether, m = i / 4 % S::kTogether;
      to[(8 * m + i % 2) * S::kPitch + 16 * tile + i % 4 / 2 * 8] = sums[tile][m][i % 4];
    }
  }

  /// On CUDA cores.
  __device__ __forceinline__ float sum_again(int row, int column) const {
    const float *const few = short_line(row), *const line = long_line(column);
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < p.K; ++k) sum += few[k] * line[k];
    return sum;
  }

  /// Adds the slabs of all parts, and stores this part's share. `lost`: planes could not hold an
  /// element of the block.
  __device__ __forceinline__ void finish(int part, int slabs, bool lost) const {
    for (int i = part * S::kThreads + threadIdx.x; i < S::kRows * S::kColumns;
         i += S::kThreads * S::kParts) {
      const int row = S::kSwapped ? i % S::kRows : i / S::kColumns;
      const int column = S::kSwapped ? i / S::kRows : i % S::kColumns;
      if (first_row + row >= short_lines() || first + column >= long_lines()) continue;
      float total[1] = {0};
#pragma unroll 1
      for (int from = 0; from < S::kParts; ++from) {
        const float* const own = sums + row * S::kPitch + column;
        const float* const there = S::kParts == 1 ? own : in_block(own, from);
        const int count = slabs * (from + 1) / S::kParts - slabs * from / S::kParts;
#pragma unroll 8
        for (int slab = 0; slab < count; ++slab) total[0] += there[slab * S::kRows * S::kPitch];
      }
      if (lost || any_doubtful(total)) total[0] = sum_again(row, column);
      const int m = S::kSwapped ? first + column : first_row + row;
      const int n = S::kSwapped ? first_row + row : first + column;
      store<S>(p, m, n, total[0]);
    }
  }
};

extern "C" __global__ void __launch_bounds__(32 * K_GROUPS, MIN_BLOCKS)
    gemm_skinny_split(GEMM_ARGUMENTS) {
  using S = SkinnySplit;
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ int lost_in_block;
  follow_kernel_ahead();
  const Problem p = GEMM_PROBLEM;
  const int slabs = (K + kSlab - 1) / kSlab, part = S::kParts == 1 ? 0 : cluster_rank();
  const int down = ((S::kSwapped ? N : M) + S::kRows - 1) / S::kRows,
            place = blockIdx.x / S::kParts;
  const SkinnySplitBlock block{p,
                               reinterpret_cast<float*>(shared),
                               place / down * S::kColumns,
                               place % down * S::kRows,
                               slabs * part / S::kParts,
                               slabs * (part + 1) / S::kParts};
  int lost = __syncthreads_or(block.sum_slabs());
  if constexpr (S::kParts > 1) {
    if (threadIdx.x == 0) lost_in_block = lost;
    cluster_barrier();
#pragma unroll
    for (int i = 0; i < S::kParts; ++i) lost |= *in_block(&lost_in_block, i);
  }
  block.finish(part, slabs, lost);
  if constexpr (S::kParts > 1) cluster_barrier();  // others still read this block's sums
}
