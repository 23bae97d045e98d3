// SPDX-License-Identifier: Apache-2.0
// From the threads' sums to D. With one group of warps and no split, straight from registers; else
// the groups' sums meet in shared memory, then those of the blocks:
//   REDUCTION  cluster    every block of the cluster adds up its share of the tile
//              workspace  each leaves its tile in memory, the last to come adds all in fixed order
//              atomic     each adds to D, in any order; gemm_clear made D = beta C before
//              tail       blocks of the last tiles only, through memory, each thread's sums by
//                         themselves; all other blocks as without a split
// All but atomic give the same bits in every run.
#pragma once

#if REDUCTION == REDUCTION_CLUSTER
#include "device/cluster.cuh"
#endif

constexpr bool kThroughShared =
    K_SLICES > 1 || (REDUCTION != REDUCTION_NONE && REDUCTION != REDUCTION_TAIL);
constexpr int kTile = BM * BN;

struct Output {
  real* D;
  const real* C;
  real alpha, beta;
  int ldd, ldc, m_left, n_left;  // D and C begin at the block's tile

  __device__ __forceinline__ void put(int m, int n, real sum) const {
    real* to = D + (long long)m * ldd + n;
#if REDUCTION == REDUCTION_ATOMIC
    atomicAdd(to, SCALE == SCALE_NONE ? sum : alpha * sum);
#else
    *to = scaled(sum, alpha, beta, C, (long long)m * ldc + n);
#endif
  }

  template <int COUNT>
  __device__ __forceinline__ void store(int m, int n, Vector<COUNT> sums) const {
    if (EDGE_M && m >= m_left) return;
    if (COUNT <= VECTOR_D && REDUCTION != REDUCTION_ATOMIC) {  // n_left is a multiple of COUNT too
      if (EDGE_N && n >= n_left) return;
#pragma unroll
      for (int i = 0; i < COUNT; ++i)
        sums.value[i] = scaled(sums.value[i], alpha, beta, C, (long long)m * ldc + n + i);
      *reinterpret_cast<Vector<COUNT>*>(D + (long long)m * ldd + n) = sums;
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        if (EDGE_N && n + i >= n_left) return;
        put(m, n + i, sums.value[i]);
      }
    }
  }
};

/// Hands use(m, n, vector) every run of neighbouring columns of the thread's sums.
template <class USE>
__device__ __forceinline__ void for_each_group(const real (&sum)[TM][TN], const ThreadPlace& place,
                                               USE use) {
  constexpr int kGroup = BFragment::kGroup;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; j += kGroup) {
      Vector<kGroup> group;
#pragma unroll
      for (int g = 0; g < kGroup; ++g) group.value[g] = sum[i][j + g];
      use(place.m + AFragment::outer(place.lane_m, i), place.n + BFragment::outer(place.lane_n, j),
          group);
    }
  }
}

/// Where an element of a block's tile lies in shared memory. Where the lanes of a warp write only
/// half the banks' width in each row, the halves of every other lane's rows (`odd`) are exchanged.
__device__ __forceinline__ int tile_at(int m, int n, bool odd) {
  constexpr int kHalf = 64 / sizeof(real);
  constexpr bool kExchanged = kWarpN * BFragment::kGroup == kHalf && BN % (2 * kHalf) == 0;
  return m * BN + (kExchanged && odd ? n ^ kHalf : n);
}
__device__ __forceinline__ int tile_at(int m, int n) {
  return tile_at(m, n, m / AFragment::kGroup % 2);
}

typedef Vector<kWidest> Chunk;  // of the tile, row by row

__device__ __forceinline__ void add(Chunk& sum, const Chunk& more) {
#pragma unroll
  for (int i = 0; i < kWidest; ++i) sum.value[i] += more.value[i];
}

/// Adds up copies of a chunk that lie `stride` elements apart, first to last.
__device__ __forceinline__ Chunk sum_of(const real* first, long long stride, int count) {
  Chunk sum = *reinterpret_cast<const Chunk*>(first);
  for (int i = 1; i < count; ++i) add(sum, *reinterpret_cast<const Chunk*>(first + i * stride));
  return sum;
}

#if REDUCTION == REDUCTION_WORKSPACE || REDUCTION == REDUCTION_TAIL
/// True in every thread of the last of `parts` blocks that come here with this counter, which is
/// then 0 again; what the others wrote before is seen. `shared` is free for one value.
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
#endif

#if REDUCTION == REDUCTION_TAIL
/// One of the `parts` last blocks that share a tile; sums of a thread lie kThreads apart.
__device__ __forceinline__ void finish_tail(const real (&sum)[TM][TN], const ThreadPlace& place,
                                            const Output& output, real* shared, int part, int parts,
                                            real* partial, int* counters) {
  const int tile = (gridDim.x - 1 - blockIdx.x) / parts;  // the last one is 0
  real* const parts_of_tile = partial + (long long)tile * parts * kTile + threadIdx.x;
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j)
      parts_of_tile[(long long)part * kTile + (i * TN + j) * kThreads] = sum[i][j];
  }
  if (!comes_last(counters + tile, parts, shared)) return;
  real total[TM][TN] = {};
  for (int from = 0; from < parts; ++from) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
      for (int j = 0; j < TN; ++j)
        total[i][j] += parts_of_tile[(long long)from * kTile + (i * TN + j) * kThreads];
    }
  }
  for_each_group(total, place, [&](int m, int n, const auto& group) { output.store(m, n, group); });
}
#endif

/// `shared` holds K_SLICES tiles; the stages in it are no longer needed by this thread.
__device__ __forceinline__ void finish(const real (&sum)[TM][TN], const ThreadPlace& place,
                                       const Output& output, real* shared, int part, int parts,
                                       real* partial, int* counters) {
#if REDUCTION == REDUCTION_TAIL
  if (parts > 1) return finish_tail(sum, place, output, shared, part, parts, partial, counters);
#endif
  if (!kThroughShared) {
    for_each_group(sum, place, [&](int m, int n, const auto& group) { output.store(m, n, group); });
    return;
  }
  __syncthreads();
  for_each_group(sum, place, [&](int m, int n, const auto& group) {
    *reinterpret_cast<Vector<BFragment::kGroup>*>(shared + place.slice * kTile +
                                                  tile_at(m, n, place.lane_m % 2)) = group;
  });
#if REDUCTION == REDUCTION_CLUSTER
  if (K_SLICES > 1) {
    __syncthreads();
    for (int at = threadIdx.x * kWidest; at < kTile; at += kThreads * kWidest)
      *reinterpret_cast<Chunk*>(shared + at) = sum_of(shared + at, kTile, K_SLICES);
  }
  cluster_barrier();
  const int share = (kTile / kWidest + parts - 1) / parts * kWidest;
  const int end = min((part + 1) * share, kTile);
  for (int at = part * share + threadIdx.x * kWidest; at < end; at += kThreads * kWidest) {
    const int m = at / BN, n = at % BN;
    Chunk total = *reinterpret_cast<const Chunk*>(in_block(shared + tile_at(m, n), 0));
    for (int rank = 1; rank < parts; ++rank)
      add(total, *reinterpret_cast<const Chunk*>(in_block(shared + tile_at(m, n), rank)));
    output.store(m, n, total);
  }
  cluster_barrier();  // nobody leaves while its shared memory is still read
#elif REDUCTION == REDUCTION_WORKSPACE
  __syncthreads();
  const long long tile =
      ((long long)(blockIdx.z / parts) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  real* parts_of_tile = partial + tile * parts * kTile;
  for (int at = threadIdx.x * kWidest; at < kTile; at += kThreads * kWidest)
    *reinterpret_cast<Chunk*>(parts_of_tile + (long long)part * kTile + at) =
        sum_of(shared + tile_at(at / BN, at % BN), kTile, K_SLICES);
  if (!comes_last(counters + tile, parts, shared)) return;
  for (int at = threadIdx.x * kWidest; at < kTile; at += kThreads * kWidest)
    output.store(at / BN, at % BN, sum_of(parts_of_tile + at, kTile, parts));
#else
  __syncthreads();
  for (int at = threadIdx.x * kWidest; at < kTile; at += kThreads * kWidest)
    output.store(at / BN, at % BN, sum_of(shared + tile_at(at / BN, at % BN), kTile, K_SLICES));
#endif
}
