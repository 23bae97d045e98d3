// SPDX-License-Identifier: Apache-2.0
// The block's tile of sums in shared memory, one tile a group of warps, where groups and blocks
// meet.
#pragma once

#include "thread_tile.cuh"

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
