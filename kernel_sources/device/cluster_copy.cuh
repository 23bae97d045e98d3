// SPDX-License-Identifier: Apache-2.0
// Copies that several blocks of a cluster receive: TMA reads a box once and writes it to the same
// place in each of them, where the block's own barrier counts it. When a block has read a stage, it
// arrives at barriers in the blocks that copy there. From compute capability 9.0 on.
#pragma once

#include "cluster_send.cuh"

#ifdef AUTOTUNE_HOST

/// wgmma is imitated warp by warp: each warp arrives when it has read a stage.
constexpr int kArrivingWarps = 4;
inline int arrival_index() { return threadIdx.x % 32; }

/// Copies a box to `offset` bytes behind `to`, swizzled as seen from `to`. copy_box() swizzles as
/// seen from the box.
inline void copy_part(SharedAddress to, int offset, const TensorMap& map, int x0, int y0, int z,
                      SharedAddress barrier) {
  const int pitch = map.box[0] * map.element_bytes;
  const int swizzle = map.swizzle_bytes == 0 ? 0 : map.swizzle_bytes - 16;
  for (int y = y0; y < y0 + map.box[1]; ++y) {
    const char* const line = map.bytes + z * map.strides[1] + y * map.strides[0];
    const bool inside = y < map.dims[1] && z < map.dims[2];
    const int length = map.dims[0] * map.element_bytes, first = x0 * map.element_bytes;
    for (int i = 0; i < pitch; ++i) {
      const int plain = offset + (y - y0) * pitch + i;
      shared_pointer<char>(to)[plain ^ (plain >> 3 & swizzle)] =
          inside && first + i < length ? line[first + i] : 0;
    }
  }
  barrier_at(barrier).bytes -= map.box[1] * pitch;
  barrier_at(barrier).end_phase();
}

inline void copy_to_blocks(SharedAddress to, int offset, const TensorMap& map, int x, int y, int z,
                           SharedAddress barrier, unsigned short blocks) {
  for (int rank = 0; rank < 16; ++rank) {
    if (blocks >> rank & 1)
      copy_part(address_in_block(to, rank), offset, map, x, y, z, address_in_block(barrier, rank));
  }
}
inline void copy_to_blocks(SharedAddress to, int offset, const TensorMap& map, int x, int y,
                           SharedAddress barrier, unsigned short blocks) {
  copy_to_blocks(to, offset, map, x, y, 0, barrier, blocks);
}

inline void arrive_in_block(SharedAddress barrier, int rank) {
  arrive(address_in_block(barrier, rank));
}

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
