// SPDX-License-Identifier: Apache-2.0
// The blocks of a cluster whose tiles lie next to each other, in a rectangle. Those side by side
// have the same rows, and those one below the other have the same columns. Each of them copies a
// part of these to all of them.
#pragma once

#include "device/cluster_copy.cuh"

/// What a block copies of an operand: part `part` of its lines, to the blocks with a bit in
/// `blocks`.
struct CopyShare {
  int part;
  unsigned short blocks;
};

/// `kBeside` blocks side by side, `kBelow` one below the other. The grid and the cluster have one
/// dimension.
template <int kBeside, int kBelow>
struct SharedCopies {
  static constexpr int kBlocks = kBeside * kBelow;              // of a cluster
  static constexpr int kPartners = kBeside + kBelow - 1;        // that read what a block copies
  static constexpr int kArrivals = kArrivingWarps * kPartners;  // arrivals for each warpgroup

  static __device__ __forceinline__ int cluster() { return blockIdx.x / kBlocks; }
  static __device__ __forceinline__ int clusters() { return gridDim.x / kBlocks; }
  /// This block's place in the rectangle.
  static __device__ __forceinline__ int across() { return blockIdx.x % kBeside; }
  static __device__ __forceinline__ int down() { return blockIdx.x % kBlocks / kBeside; }

  static __device__ __forceinline__ CopyShare of_rows() {
    return {across(), (unsigned short)(((1 << kBeside) - 1) << down() * kBeside)};
  }
  static __device__ __forceinline__ CopyShare of_columns() {
    unsigned first_column = 0;
#pragma unroll
    for (int i = 0; i < kBelow; ++i) first_column |= 1u << i * kBeside;
    return {down(), (unsigned short)(first_column << across())};
  }

  /// The rank of a block that copies to this one, which may be this one: `index` < kPartners.
  static __device__ __forceinline__ int partner(int index) {
    if (index < kBeside) return down() * kBeside + index;
    const int other = index - kBeside;
    return (other + (other >= down())) * kBeside + across();
  }

  /// All threads of a warpgroup that has read a stage call this. It arrives at the stage's barrier
  /// in each block that copies there.
  static __device__ __forceinline__ void arrive_at_partners(SharedAddress emptied) {
    const int index = arrival_index();
    if (index < kPartners) arrive_in_block(emptied, partner(index));
  }
};
