// SPDX-License-Identifier: Apache-2.0
// Copies that several blocks of a cluster receive: TMA reads a box once and writes it to the same
// place in each of them, where the block's own barrier counts it. When a block has read a stage, it
// arrives at barriers in the blocks that copy there. From compute capability 9.0 on.
#pragma once

#include "cluster_send.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/cluster_copy.cuh"
#else

/// A group of wgmma ends for all warps of a warpgroup at once: one of their threads arrives in a
/// block.
constexpr int kArrivingWarps = 1;
/// In which of the blocks a thread arrives. The first indexes are in different warps.
__device__ __forceinline__ int arrival_index() {
  return threadIdx.x % 32 * 4 + threadIdx.x / 32 % 4;
}

/// Copies the box of `map` at column x and row y to each block of the cluster whose rank is a bit
/// of `blocks`; zeros outside the matrix. In each, `barrier` counts the bytes. There the box is a
/// part of the lines that begin at `to`, a multiple of 1024: it begins `offset` bytes behind, a
/// multiple of 128, and is swizzled as the whole is, because bits of the address say how.
__device__ __forceinline__ void copy_to_blocks(SharedAddress to, int offset, const TensorMap& map,
                                               int x, int y, SharedAddress barrier,
                                               unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to + offset),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}
/// The same, of the matrix z.
__device__ __forceinline__ void copy_to_blocks(SharedAddress to, int offset, const TensorMap& map,
                                               int x, int y, int z, SharedAddress barrier,
                                               unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to + offset),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(blocks)
      : "memory");
}

/// At the same barrier in the block `rank` of the cluster, after reading. For what was written,
/// `.release.cluster` would be needed: it waits for all writes of the thread, as a fence for the
/// whole GPU does, and takes longer than the copies.
__device__ __forceinline__ void arrive_in_block(SharedAddress barrier, int rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in_block(barrier, rank))
               : "memory");
}

#endif
