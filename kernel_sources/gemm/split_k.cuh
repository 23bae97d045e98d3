// SPDX-License-Identifier: Apache-2.0
// Blocks that share a tile of D add their sums up:
//   cluster    each block of the cluster adds up its share of the tile
//   workspace  each leaves its tile in memory; the last block to arrive adds all in fixed order
//   tail       only the blocks of the last tiles do so, through memory and without shared memory:
//              each thread adds up its own elements
// All give the same bits in every run.
#pragma once

#include "device/cluster.cuh"
#include "output.cuh"
#include "shared_tile.cuh"

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
