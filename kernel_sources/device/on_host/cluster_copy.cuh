// SPDX-License-Identifier: Apache-2.0
// As device/cluster_copy.cuh.
#pragma once

#include "device/cluster_send.cuh"

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
