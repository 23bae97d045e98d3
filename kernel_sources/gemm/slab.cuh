// SPDX-License-Identifier: Apache-2.0
// A slab of one operand in shared memory: `outer` rows of op(A) or columns of op(B), 128 bytes of
// k. TMA or threads write it, wgmma reads it.
#pragma once

#include "device/bulk_copy.cuh"
#include "device/wgmma.cuh"
#include "line_copies.cuh"
#include "shared_copies.cuh"

constexpr int kSlabBytes = 128;  // of k

/// Copies a box; of matrix z, if `map` has as many.
template <bool batched>
__device__ __forceinline__ void copy_plane(SharedAddress to, const TensorMap& map, int x, int y,
                                           int z, SharedAddress barrier) {
  if constexpr (batched) {
    copy_box(to, map, x, y, z, barrier);
  } else {
    copy_box(to, map, x, y, barrier);
  }
}

/// Copies a box to several blocks of a cluster: to `offset` bytes behind `to`.
template <bool batched>
__device__ __forceinline__ void share_plane(SharedAddress to, int offset, const TensorMap& map,
                                            int x, int y, int z, SharedAddress barrier,
                                            unsigned short blocks) {
  if constexpr (batched) {
    copy_to_blocks(to, offset, map, x, y, z, barrier, blocks);
  } else {
    copy_to_blocks(to, offset, map, x, y, barrier, blocks);
  }
}

/// Along k it is one box of 128 bytes x outer. Across k it is pieces of up to 128 bytes of `outer`,
/// a box each: those that lie side by side in a line of memory.
template <int outer, bool along_k, int element_bytes = 2>
struct Slab {
  static constexpr int kPiece = along_k              ? outer
                                : element_bytes == 4 ? 32
                                : outer % 64 == 0    ? 64
                                : outer % 32 == 0    ? 32
                                                     : 16;
  static constexpr int kPitch = along_k ? kSlabBytes : element_bytes * kPiece;  // bytes of a line
  static constexpr int kBytes = outer * kSlabBytes;
  static constexpr int kStepBytes = along_k ? 32 : 16 * kPitch;  // from 32 bytes of k to the next

  /// The elements from (first, k) on. `map` has boxes of 128 bytes x outer, or of kPiece x a slab;
  /// boxes along k may have fewer lines, if nobody needs the others.
  template <bool batched>
  static __device__ __forceinline__ void copy(SharedAddress to, const TensorMap& map, int first,
                                              int k, int product, SharedAddress barrier) {
    if constexpr (along_k) {
      copy_plane<batched>(to, map, k, first, product, barrier);
    } else {
#pragma unroll
      for (int at = 0; at < outer; at += kPiece)
        copy_plane<batched>(to + at * kSlabBytes, map, first + at, k, product, barrier);
    }
  }

  /// The same by kSharers blocks, which all receive it: this one copies its part of the lines of
  /// each box, as many as boxes of `map` have.
  template <bool batched, int kSharers>
  static __device__ __forceinline__ void copy(SharedAddress to, const TensorMap& map, int first,
                                              int k, int product, SharedAddress barrier,
                                              const CopyShare& share) {
    constexpr int kLines = along_k ? outer : kSlabBytes / element_bytes;
    static_assert(kLines % kSharers == 0, "parts have the same number of lines");
    const int line = share.part * (kLines / kSharers), offset = line * kPitch;
    if constexpr (along_k) {
      share_plane<batched>(to, offset, map, k, first + line, product, barrier, share.blocks);
    } else {
#pragma unroll
      for (int at = 0; at < outer; at += kPiece)
        share_plane<batched>(to + at * kSlabBytes, offset, map, first + at, k + line, product,
                             barrier, share.blocks);
    }
  }

  /// The same by kLineThreads threads.
  static __device__ __forceinline__ void copy(SharedAddress to, const Lines& lines, int first,
                                              int k, int product, int thread) {
    if constexpr (along_k) {
      copy_lines<outer, kPitch>(to, lines, k * element_bytes, first, product, thread);
    } else {
#pragma unroll
      for (int at = 0; at < outer; at += kPiece)
        copy_lines<kSlabBytes / element_bytes, kPitch>(
            to + at * kSlabBytes, lines, (first + at) * element_bytes, k, product, thread);
    }
  }

  /// Of the rows from `first` on, a multiple of 64 or 0.
  static __device__ __forceinline__ MatrixDescriptor describe(SharedAddress slab, int first) {
    const SharedAddress at = slab + first * kSlabBytes;
    if constexpr (along_k) return MatrixDescriptor(at, kAtomBytes);
    return MatrixDescriptor(at, 8 * kPitch, kPitch, kPiece * kSlabBytes);
  }
};
