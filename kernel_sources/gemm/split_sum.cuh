// SPDX-License-Identifier: Apache-2.0
// Blocks that share a tile divide k among them. Each warpgroup leaves its sums in memory, and the
// last one to arrive adds those of all parts, in fixed order: every run gives the same bits.
#pragma once

#include "device/wgmma.cuh"

/// What blocks share in memory.
template <class Sum>
struct SplitMemory {
  Sum* partial;   // the sums of each part of each tile
  int* counters;  // one for each warpgroup of each tile, all 0 before and after
};

/// Of the warpgroup `index` of the tile, there are `kSums` sums a thread.
template <class Sum, int kParts, int kSums>
struct SplitSum {
  const SplitMemory<Sum>& memory;
  int index;      // of the tile's warpgroup, among all
  int warpgroup;  // in the block
  int* ticket;    // in shared memory

  __device__ __forceinline__ Sum* sums_of(int part) const {
    return memory.partial + ((long long)index * kParts + part) * kSums * 128 + threadIdx.x % 128;
  }

  /// True in the last warpgroup to come here; `sums` are of all parts then.
  __device__ __forceinline__ bool add(int part, Sum (&sums)[kSums]) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums_of(part)[i * 128] = sums[i];
    if (!comes_last()) return false;
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = 0;
    for (int from = 0; from < kParts; ++from) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] += __ldcg(sums_of(from) + i * 128);
    }
    return true;
  }

  __device__ __forceinline__ bool comes_last() const {
    __threadfence();
    meet_warpgroup(warpgroup);
    if (threadIdx.x % 128 == 0) {
      *ticket = atomicAdd(memory.counters + index, 1);
      if (*ticket == kParts - 1) memory.counters[index] = 0;
    }
    meet_warpgroup(warpgroup);
    __threadfence();
    return *ticket == kParts - 1;
  }
};
