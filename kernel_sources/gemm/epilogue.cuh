// SPDX-License-Identifier: Apache-2.0
// From the threads' sums to D. With one group of warps and no split over blocks, sums go straight
// from registers. Else the groups' sums meet in shared memory, and then those of blocks that share
// a tile of D:
//   cluster    each block of the cluster adds up its share of the tile
//   workspace  each leaves its tile in memory; the last block to arrive adds all in fixed order
//   tail       only the blocks of the last tiles do so, through memory and without shared memory:
//              each thread adds up its own elements
// All give the same bits in every run.
#pragma once

#include "device/cluster.cuh"
#include "problem.cuh"
#include "thread_tile.cuh"

/// The block's tile of D.
template <class Config>
struct Output {
  real* D;
  const real* C;
  real alpha, beta;
  int ldd, ldc, m_left, n_left;  // D and C begin at the block's tile

  __device__ __forceinline__ void put(int m, int n, real sum) const {
    real* const to = D + (long long)m * ldd + n;
    *to = finished<Config>(sum, alpha, beta, C, (long long)m * ldc + n);
  }

  template <int kCount>
  __device__ __forceinline__ void store(int m, int n, Vector<kCount> sums) const {
    if (Config::kEdgeM && m >= m_left) return;
    // Vectors: n_left is a multiple of kCount too.
    if (kCount <= Config::kVectorD) {
      if (Config::kEdgeN && n >= n_left) return;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        sums.value[i] = finished<Config>(sums.value[i], alpha, beta, C, (long long)m * ldc + n + i);
      store_vector(D + (long long)m * ldd + n, sums);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (Config::kEdgeN && n + i >= n_left) return;
        put(m, n + i, sums.value[i]);
      }
    }
  }
};

/// Hands use(m, n, vector) every group of neighbouring columns of the thread's sums.
template <class Config, class Use>
__device__ __forceinline__ void for_each_group(const Sums<Config>& sum,
                                               const ThreadPlace<Config>& place, Use use) {
  constexpr int kGroup = BFragment<Config>::kGroup;
#pragma unroll
  for (int i = 0; i < Config::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Config::kTN; j += kGroup) {
      Vector<kGroup> group;
#pragma unroll
      for (int g = 0; g < kGroup; ++g) group.value[g] = sum[i][j + g];
      use(place.m + AFragment<Config>::outer(place.lane_m, i),
          place.n + BFragment<Config>::outer(place.lane_n, j), group);
    }
  }
}

template <class Config>
__device__ __forceinline__ void store_sums(const Sums<Config>& sum,
                                           const ThreadPlace<Config>& place,
                                           const Output<Config>& output) {
  for_each_group<Config>(sum, place,
                         [&](int m, int n, const auto& group) { output.store(m, n, group); });
}

// ---- The tile of sums in shared memory, one a group of warps

/// Where an element lies in its tile. Where the lanes of a warp write only half the banks' width in
/// each row, the halves of every `odd` group of rows are swizzled.
template <class Config>
__device__ __forceinline__ int tile_at(int m, int n, bool odd) {
  constexpr int kHalf = 64 / sizeof(real);
  constexpr bool kSwizzled =
      Config::kLanesN * BFragment<Config>::kGroup == kHalf && Config::kBN % (2 * kHalf) == 0;
  return m * Config::kBN + (kSwizzled && odd ? n ^ kHalf : n);
}
template <class Config>
__device__ __forceinline__ int tile_at(int m, int n) {
  return tile_at<Config>(m, n, m / AFragment<Config>::kGroup % 2);
}

typedef Vector<kWidest> Chunk;  // of a tile, row by row

// A reference: with a copy the compiler unrolls the loops around it, for more registers.
__device__ __forceinline__ const Chunk& chunk_at(const real* first) {
  return *reinterpret_cast<const Chunk*>(first);
}

__device__ __forceinline__ void add(Chunk& sum, const Chunk& more) {
#pragma unroll
  for (int i = 0; i < kWidest; ++i) sum.value[i] += more.value[i];
}

/// Adds up copies of a chunk that lie `stride` elements apart, first to last.
__device__ __forceinline__ Chunk sum_of(const real* first, long long stride, int count) {
  Chunk sum = chunk_at(first);
  for (int i = 1; i < count; ++i) add(sum, chunk_at(first + i * stride));
  return sum;
}

/// The chunk at (m, n), added up over the groups of warps.
template <class Config>
__device__ __forceinline__ Chunk sum_of_groups(const real* tiles, int m, int n) {
  return sum_of(tiles + tile_at<Config>(m, n), Config::kTile, Config::kSliceGroups);
}

// ---- Blocks that share a tile

/// True in every thread of the last of `parts` blocks that come here with this counter, which is
/// then 0 again. That block sees what the others wrote before. `shared` is free for one value.
__device__ __forceinline__ bool comes_last(int* counter, int parts, real* shared) {
  int* const ticket = reinterpret_cast<int*>(shared);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    *ticket = atomicAdd(counter, 1);
    if (*ticket == parts - 1) *counter = 0;
  }
  __syncthreads();
  __threadfence();
  return *ticket == parts - 1;
}

/// A block's part of its tile, and what blocks share in memory.
struct SplitPart {
  int part, parts;
  real* partial;  // a tile of sums for each part of each tile
  int* counters;  // one for each tile, all 0 before and after
};

template <class Config>
__device__ __forceinline__ void add_tail(const Sums<Config>& sum, const ThreadPlace<Config>& place,
                                         const Output<Config>& output, real* shared,
                                         const SplitPart& split) {
  constexpr int kTM = Config::kTM, kTN = Config::kTN, kThreads = Config::kThreads;
  const int tile = (gridDim.x - 1 - blockIdx.x) / split.parts;  // the last one is 0
  // A thread's sums lie kThreads apart.
  real* const parts_of_tile =
      split.partial + (long long)tile * split.parts * Config::kTile + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kTM; ++i) {
#pragma unroll
    for (int j = 0; j < kTN; ++j)
      parts_of_tile[(long long)split.part * Config::kTile + (i * kTN + j) * kThreads] = sum[i][j];
  }
  if (!comes_last(split.counters + tile, split.parts, shared)) return;
  real total[kTM][kTN] = {};
  for (int from = 0; from < split.parts; ++from) {
#pragma unroll
    for (int i = 0; i < kTM; ++i) {
#pragma unroll
      for (int j = 0; j < kTN; ++j)
        total[i][j] += parts_of_tile[(long long)from * Config::kTile + (i * kTN + j) * kThreads];
    }
  }
  store_sums<Config>(total, place, output);
}

template <class Config>
__device__ __forceinline__ void add_in_cluster(real* shared, const Output<Config>& output,
                                               const SplitPart& split) {
  constexpr int kTile = Config::kTile, kThreads = Config::kThreads;
  if (Config::kSliceGroups > 1) {
    __syncthreads();
    for (int at = threadIdx.x * kWidest; at < kTile; at += kThreads * kWidest)
      store_vector(shared + at, sum_of(shared + at, kTile, Config::kSliceGroups));
  }
  cluster_barrier();
  const int share = (kTile / kWidest + split.parts - 1) / split.parts * kWidest;
  const int end = min((split.part + 1) * share, kTile);
  for (int at = split.part * share + threadIdx.x * kWidest; at < end; at += kThreads * kWidest) {
    const int m = at / Config::kBN, n = at % Config::kBN;
    Chunk total = chunk_at(in_block(shared + tile_at<Config>(m, n), 0));
    for (int rank = 1; rank < split.parts; ++rank)
      add(total, chunk_at(in_block(shared + tile_at<Config>(m, n), rank)));
    output.store(m, n, total);
  }
  cluster_barrier();  // no block leaves while its shared memory is still read
}

template <class Config>
__device__ __forceinline__ void add_in_workspace(real* shared, const Output<Config>& output,
                                                 const SplitPart& split) {
  constexpr int kTile = Config::kTile, kBN = Config::kBN;
  constexpr int kStep = Config::kThreads * kWidest;
  __syncthreads();
  const long long tile =
      ((long long)(blockIdx.z / split.parts) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  real* const parts_of_tile = split.partial + tile * split.parts * kTile;
  for (int at = threadIdx.x * kWidest; at < kTile; at += kStep)
    store_vector(parts_of_tile + (long long)split.part * kTile + at,
                 sum_of_groups<Config>(shared, at / kBN, at % kBN));
  if (!comes_last(split.counters + tile, split.parts, shared)) return;
  for (int at = threadIdx.x * kWidest; at < kTile; at += kStep)
    output.store(at / kBN, at % kBN, sum_of(parts_of_tile + at, kTile, split.parts));
}

/// `shared` holds kSliceGroups tiles. This thread needs the stages in it no longer.
template <class Config>
__device__ __forceinline__ void finish(const Sums<Config>& sum, const ThreadPlace<Config>& place,
                                       const Output<Config>& output, real* shared,
                                       const SplitPart& split) {
  if constexpr (Config::kReduction == Reduction::tail) {
    if (split.parts > 1) return add_tail<Config>(sum, place, output, shared, split);
  }
  if constexpr (!Config::kThroughShared) {
    store_sums<Config>(sum, place, output);
  } else {
    __syncthreads();
    for_each_group<Config>(sum, place, [&](int m, int n, const auto& group) {
      store_vector(shared + place.group * Config::kTile + tile_at<Config>(m, n, place.lane_m % 2),
                   group);
    });
    if constexpr (Config::kReduction == Reduction::cluster) {
      add_in_cluster<Config>(shared, output, split);
    } else if constexpr (Config::kReduction == Reduction::workspace) {
      add_in_workspace<Config>(shared, output, split);
    } else {
      constexpr int kStep = Config::kThreads * kWidest, kBN = Config::kBN;
      __syncthreads();
      for (int at = threadIdx.x * kWidest; at < Config::kTile; at += kStep)
        output.store(at / kBN, at % kBN, sum_of_groups<Config>(shared, at / kBN, at % kBN));
    }
  }
}
