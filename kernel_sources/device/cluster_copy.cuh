// SPDX-License-Identifier: Apache-2.0
// Copies that several blocks of a cluster receive: TMA reads a box once and writes it to the same
// place in each of them, where the block's own barrier counts it. A block says to those that copy
// to it which stages it has read. From compute capability 9.0 on.
#pragma once

#include "cluster_send.cuh"

#ifdef AUTOTUNE_HOST

/// wgmma is imitated warp by warp: each warp says for itself that it has read a stage.
constexpr int kTellingWarps = 4;
inline int telling_index() { return threadIdx.x % 32; }

inline void copy_box_to_blocks(SharedAddress to, const TensorMap& map, int x, int y, int z,
                               SharedAddress barrier, unsigned short blocks) {
  for (int rank = 0; rank < 16; ++rank) {
    if (blocks >> rank & 1)
      copy_box(address_in_block(to, rank), map, x, y, z, address_in_block(barrier, rank));
  }
}
inline void copy_box_to_blocks(SharedAddress to, const TensorMap& map, int x, int y,
                               SharedAddress barrier, unsigned short blocks) {
  copy_box_to_blocks(to, map, x, y, 0, barrier, blocks);
}

inline void arrive_in_block(SharedAddress barrier, int rank) {
  arrive(address_in_block(barrier, rank));
}

#else

/// A group of wgmma ends for all warps of a warpgroup at once: one thread of them tells a block.
constexpr int kTellingWarps = 1;
/// Of a thread: which of the blocks to be told is its own. The first indexes are in different warps.
__device__ __forceinline__ int telling_index() {
  return threadIdx.x % 32 * 4 + threadIdx.x / 32 % 4;
}

/// Copies the box of `map` at column x and row y to `to` in each block of the cluster whose rank is
/// a bit of `blocks`; zeros outside the matrix. In each, `barrier` counts the bytes.
__device__ __forceinline__ void copy_box_to_blocks(SharedAddress to, const TensorMap& map, int x,
                                                   int y, SharedAddress barrier,
                                                   unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}
/// The same, of the matrix z.
__device__ __forceinline__ void copy_box_to_blocks(SharedAddress to, const TensorMap& map, int x,
                                                   int y, int z, SharedAddress barrier,
                                                   unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(blocks)
      : "memory");
}

/// At the same barrier in the block `rank` of the cluster.
__device__ __forceinline__ void arrive_in_block(SharedAddress barrier, int rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_in_block(barrier, rank))
               : "memory");
}

#endif
