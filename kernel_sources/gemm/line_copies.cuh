// SPDX-License-Identifier: Apache-2.0
// Boxes of an operand, copied to shared memory by threads instead of TMA, in chunks of 16 bytes.
// For lines that begin between the sectors of 32 bytes of the L2 cache: TMA reads those slowly.
#pragma once

#include "device/chunk_copy.cuh"

constexpr int kLineThreads = 128;  // that copy

/// An operand in memory. Sizes and distances are in bytes, multiples of 16.
struct Lines {
  const void* first;
  int number, length;
  long long distance, stride;  // of lines, of products
};

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
