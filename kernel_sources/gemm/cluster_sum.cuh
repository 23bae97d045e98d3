// SPDX-License-Identifier: Apache-2.0
// The blocks of a cluster divide k of a tile among them. Each adds up its share of the tile's
// columns, for which the others send it their sums. The order of additions is fixed: every run
// gives the same bits.
#pragma once

#include "device/cluster_send.cuh"

/// Of a warpgroup and 64 rows: `kSums` sums a thread, of which one of `kParts` parts takes
/// kSums / kParts, a multiple of 4.
template <class Sum, int kParts, int kSums>
struct ClusterSum {
  static constexpr int kShare = kSums / kParts;
  static constexpr int kFourBytes = 128 * 4 * sizeof(Sum);  // four sums of each thread
  static constexpr int kPartBytes = kShare / 4 * kFourBytes;
  static constexpr int kBytes = (kParts - 1) * kPartBytes;  // received

  SharedAddress received;
  int part;  // this block's

  /// Of what `from` sends to `to`, this thread's first four sums.
  __device__ __forceinline__ SharedAddress place(int from, int to) const {
    return received + (from - (from > to)) * kPartBytes + threadIdx.x % 128 * 4 * sizeof(Sum);
  }

  /// `barrier` counts what this block receives; those of the others count what it sends.
  __device__ __forceinline__ void send(const Sum (&sums)[kSums], SharedAddress barrier) const {
#pragma unroll
    for (int to = 0; to < kParts; ++to) {
      if (to == part) continue;
      const SharedAddress there = address_in_block(place(part, to), to);
      const SharedAddress counted = address_in_block(barrier, to);
#pragma unroll
      for (int i = 0; i < kShare; i += 4)
        send_four(there + i / 4 * kFourBytes, sums + to * kShare + i, counted);
    }
  }

  /// The share's sums of all parts, when those of the others have come.
  __device__ __forceinline__ void add(const Sum (&sums)[kSums], Sum (&share)[kShare]) const {
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
#pragma unroll
      for (int own = 0; own < kParts; ++own)  // a register's number must be known
        if (own == part) share[i] = sums[own * kShare + i];
    }
    for (int from = 0; from < kParts; ++from) {
      if (from == part) continue;
#pragma unroll
      for (int i = 0; i < kShare; i += 4) {
        const Sum* const four = shared_pointer<Sum>(place(from, part) + i / 4 * kFourBytes);
#pragma unroll
        for (int j = 0; j < 4; ++j) share[i + j] += four[j];
      }
    }
  }
};
