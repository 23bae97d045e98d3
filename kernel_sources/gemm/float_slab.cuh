// SPDX-License-Identifier: Apache-2.0
// A slab of f32 of one operand in shared memory: kRows rows of op(A) or columns of op(B), 64 of k.
// TMA writes it; a warpgroup splits 64 of its rows into fragments of bf16 planes.
#pragma once

#include "device/bulk_copy.cuh"
#include "planes.cuh"

/// Lines are 32 elements of memory, along k or across, swizzled over their 128 bytes. A box has the
/// lines of all rows, or of all 64 of k.
template <int kRows, bool kAlongK>
struct FloatSlab {
  static constexpr int kBytes = kRows * kSlab * 4;
  static constexpr int kLine = 32, kLineBytes = 4 * kLine;
  static constexpr int kBoxBytes = (kAlongK ? kRows : kSlab) * kLineBytes;
  static constexpr int kBoxes = kBytes / kBoxBytes;

  /// The elements from (row, k) on; zeros past the edges.
  static __device__ __forceinline__ void copy(SharedAddress to, const TensorMap& map, int row,
                                              int k, SharedAddress barrier) {
#pragma unroll
    for (int i = 0; i < kBoxes; ++i)
      copy_box(to + i * kBoxBytes, map, (kAlongK ? k : row) + i * kLine, kAlongK ? row : k,
               barrier);
  }

  static __device__ __forceinline__ SharedAddress place(int row, int k) {
    const int line = kAlongK ? row : k, at = kAlongK ? k : row;
    return at / kLine * kBoxBytes + line * kLineBytes + (at % kLine / 4 ^ line % 8) * 16 +
           at % 4 * 4;
  }

  /// Elements k and k + 1 of a row; k is even.
  static __device__ __forceinline__ Pair pair(SharedAddress slab, int row, int k) {
    if constexpr (kAlongK) return *shared_pointer<Pair>(slab + place(row, k));
    return {*shared_pointer<float>(slab + place(row, k)),
            *shared_pointer<float>(slab + place(row, k + 1))};
  }
};

/// The planes of 64 rows, in the registers of a warpgroup.
struct SplitRows {
  static constexpr int kSteps = kSlab / 16;

  Fragment fragments[kPlanes][kSteps];

  /// Splits the rows of a slab from `first` on. Returns whether a plane could not hold an element
  /// that this thread has.
  template <class Slab>
  __device__ __forceinline__ bool split_slab(SharedAddress slab, int first) {
    const int row = first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
    bool lost = false;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int k = step * 16 + threadIdx.x % 4 * 2 + i / 2 * 8;
        const Pair x = Slab::pair(slab, row + i % 2 * 8, k);
        lost |= cannot_split(x.first) || cannot_split(x.second);
        unsigned planes[kPlanes];
        split(x, planes);
#pragma unroll
        for (int plane = 0; plane < kPlanes; ++plane)
          fragments[plane][step].words[i] = planes[plane];
      }
    }
    return lost;
  }
};
