// SPDX-License-Identifier: Apache-2.0
// A block's slice of one operand in shared memory, as it lies in memory: lines along k, or across.
#pragma once

#include "device/async_copy.cuh"
#include "device/mma.cuh"

/// `outer`: rows of op(A) or columns of op(B) in a block's tile; `depth`: of a slice along k.
/// `width`: elements that are copied at once; all lines in memory are multiples of it.
template <class T, int outer, int depth, bool along_k, int width, int threads>
struct Operand {
  static constexpr int kLines = along_k ? outer : depth;
  static constexpr int kLength = along_k ? depth : outer;
  static constexpr int kChunk = 16 / sizeof(T);    // elements of a tile's line
  static constexpr int kPitch = kLength + kChunk;  // so that 8 lines lie in different banks
  static constexpr int kElements = kLines * kPitch;

  /// Begins to copy; zeros beyond `lines` and `length`.
  static __device__ __forceinline__ void copy(T* to, const T* from, long long ld, int lines,
                                              int length) {
    for (int i = threadIdx.x * width; i < kLines * kLength; i += threads * width) {
      const int line = i / kLength, at = i % kLength;
      const bool valid = line < lines && at < length;
      const T* const source = from + (valid ? line * ld + at : 0);
      T* const target = to + line * kPitch + at;
      if constexpr (width * sizeof(T) >= 4) {
        copy_async<width * sizeof(T)>(target, source, valid);
      } else {
        *target = valid ? *source : T(0.0f);
      }
    }
  }

  /// Four tiles, for 16 of `outer` and 32 bytes of k. `k_first`: the second tile is the next along
  /// k, as B wants it; else the next along `outer`, as A does.
  template <bool k_first>
  static __device__ __forceinline__ void load(unsigned (&tiles)[4], const T* slice, int at, int k) {
    static_assert(along_k || sizeof(T) == 2, "only tiles of 16 bits are transposed");
    const int lane = threadIdx.x % 32, next = lane / 8 % 2, far = lane / 16, row = lane % 8;
    const int y = at + 8 * (k_first ? far : next), x = k + kChunk * (k_first ? next : far);
    const T* const from = along_k ? slice + (y + row) * kPitch + x : slice + (x + row) * kPitch + y;
    load_tiles<!along_k>(tiles, from);
  }
};
