// SPDX-License-Identifier: Apache-2.0
// A slab of one operand in shared memory: `outer` rows of op(A) or columns of op(B), 128 bytes of
// k. TMA or threads write it, wgmma reads it. Threads copy lines that begin between the sectors of
// 32 bytes of the L2 cache, in chunks of 16 bytes: TMA reads those slowly.
#pragma once

#include "device/cluster_copy.cuh"
#include "device/wgmma.cuh"

constexpr int kSlabBytes = 128;    // of k
constexpr int kLineThreads = 128;  // that copy

/// An operand in memory. Sizes and distances are in bytes, multiples of 16.
struct Lines {
  const void* first;
  int number, length;
  long long distance, stride;  // of lines, of products
};

/// What a block copies of an operand that blocks of a cluster have in common: part `part` of its
/// lines, to the blocks with a bit in `blocks`.
struct CopyShare {
  int part;
  unsigned short blocks;
};

/// Copies a box to `offset` bytes behind `to`; of matrix z, if `map` has as many. With `shared`, to
/// several blocks of a cluster.
template <bool batched, bool shared>
__device__ __forceinline__ void copy_plane(SharedAddress to, int offset, const TensorMap& map,
                                           int x, int y, int z, SharedAddress barrier,
                                           unsigned short blocks) {
  if constexpr (shared && batched) {
    copy_to_blocks(to, offset, map, x, y, z, barrier, blocks);
  } else if constexpr (shared) {
    copy_to_blocks(to, offset, map, x, y, barrier, blocks);
  } else if constexpr (batched) {
    copy_box(to, map, x, y, z, barrier);
  } else {
    copy_box(to, map, x, y, barrier);
  }
}

/// A thread's chunks of a box of `lines` lines: one of every kStep lines, at the same place.
template <int lines, int kStep, int kStepBytes>
struct ChunkCopies {
  SharedAddress to;
  const char* from;
  long long distance;  // of lines in memory, in bytes
  int in_box, inside;  // lines from the first chunk's on, in the box and in the operand

  template <bool kThroughL1>
  __device__ __forceinline__ void begin() const {
    const char* source = from;
#pragma unroll
    for (int i = 0; i < lines; i += kStep, source += kStep * distance) {
      if (lines % kStep != 0 && i >= in_box) break;
      copy_chunk<kThroughL1>(to + i / kStep * kStepBytes, source, i < inside);
    }
  }
};

/// Begins to copy `lines` lines of `pitch` bytes, from byte x of line y on; zeros outside of the
/// operand. They lie in shared memory as TMA swizzles them. `thread`: 0 … kLineThreads - 1.
/// Copies that bypass the L1 cache are fast for lines at a multiple of 32 bytes only, and those
/// through L1 load shared memory thrice. Often every other line is at such a multiple: a warp has
/// all even or all odd lines.
template <int lines, int pitch>
__device__ __forceinline__ void copy_lines(SharedAddress to, const Lines& from, int x, int y,
                                           int product, int thread) {
  constexpr int kChunks = pitch / 16, kOfWarp = 32 / kChunks, kStep = kLineThreads / kChunks;
  static_assert(kStep * pitch % 1024 == 0, "a thread's chunks are swizzled alike");
  const int warp = thread / 32, byte = thread % kChunks * 16;
  const int line = warp / 2 * 2 * kOfWarp + thread % 32 / kChunks * 2 + warp % 2;
  const int plain = line * pitch + byte, column = x + byte, row = y + line;
  const char* const begin =
      static_cast<const char*>(from.first) + product * from.stride + row * from.distance + x;
  const ChunkCopies<lines, kStep, kStep * pitch> copies{
      to + (plain ^ (plain >> 3 & (pitch - 16))), begin + byte, from.distance, lines - line,
      column < from.length ? from.number - row : 0};
  if (reinterpret_cast<unsigned long long>(begin) % 32 == 0) {
    copies.template begin<false>();
  } else {
    copies.template begin<true>();
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
  static constexpr int kLines = along_k ? outer : kSlabBytes / element_bytes;   // of a box
  static constexpr int kBytes = outer * kSlabBytes;
  static constexpr int kStepBytes = along_k ? 32 : 16 * kPitch;  // from 32 bytes of k to the next

  /// The elements from (first, k) on. `map` has boxes of 128 bytes x outer, or of kPiece x a slab;
  /// boxes along k may have fewer lines, if nobody needs the others. Of kSharers blocks, which all
  /// receive a box, each copies its part of the lines, as many as boxes of `map` have.
  template <bool batched, int kSharers>
  static __device__ __forceinline__ void copy(SharedAddress to, const TensorMap& map, int first,
                                              int k, int product, SharedAddress barrier,
                                              const CopyShare& share) {
    static_assert(kLines % kSharers == 0, "parts have the same number of lines");
    const int line = kSharers == 1 ? 0 : share.part * (kLines / kSharers), offset = line * kPitch;
#pragma unroll
    for (int at = 0; at < outer; at += kPiece)
      copy_plane<batched, (kSharers > 1)>(to + at * kSlabBytes, offset, map,
                                          along_k ? k : first + at, (along_k ? first : k) + line,
                                          product, barrier, share.blocks);
  }

  /// The same by kLineThreads threads.
  static __device__ __forceinline__ void copy(SharedAddress to, const Lines& lines, int first,
                                              int k, int product, int thread) {
#pragma unroll
    for (int at = 0; at < outer; at += kPiece)
      copy_lines<kLines, kPitch>(to + at * kSlabBytes, lines,
                                 (along_k ? k : first + at) * element_bytes, along_k ? first : k,
                                 product, thread);
  }

  /// Of the rows from `first` on, a multiple of 64 or 0.
  static __device__ __forceinline__ MatrixDescriptor describe(SharedAddress slab, int first) {
    const SharedAddress at = slab + first * kSlabBytes;
    if constexpr (along_k) return MatrixDescriptor(at, kAtomBytes);
    return MatrixDescriptor(at, 8 * kPitch, kPitch, kPiece * kSlabBytes);
  }
};
