// SPDX-License-Identifier: Apache-2.0
// kEdgeHelp: where no more than the upper half of a last row of tiles exists, the warps of the
// lower half have no rows. They do the second half of each slice for the warps of the upper half,
// which add the sums up at the end. If kEdgeHelp is false, these functions compile to nothing.
#pragma once

#include "thread_tile.cuh"

template <class Config>
struct EdgeHelp {
  static constexpr int kHalf = Config::kBM / 2;
  bool half_exists, helps;  // only the upper half of the tile; this thread is a helper

  /// `m_left` rows exist from the tile's first on.
  __device__ __forceinline__ EdgeHelp(ThreadPlace<Config>& place, int m_left)
      : half_exists(Config::kEdgeHelp && m_left <= kHalf), helps(half_exists && place.m >= kHalf) {
    if (helps) place.m -= kHalf;
  }

  /// Narrows the steps from..to of a slice to those of this thread.
  __device__ __forceinline__ void share_steps(int& from, int& to) const {
    if (helps) {
      from = Config::kDepth / 2;
    } else if (half_exists) {
      to = Config::kDepth / 2;
    }
  }

  /// Adds the helpers' sums up. Helpers then stand below the last row.
  __device__ __forceinline__ void add(Sums<Config>& sum, real* shared,
                                      ThreadPlace<Config>& place) const {
    if (!half_exists) return;
    constexpr int kCount = Config::kTM * Config::kTN, kTN = Config::kTN;
    constexpr int kHelpers = Config::kThreads / 2;
    real* const given = shared + threadIdx.x % kHelpers;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (helps) given[i * kHelpers] = sum[i / kTN][i % kTN];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!helps) sum[i / kTN][i % kTN] += given[i * kHelpers];
    }
    if (helps) place.m += kHalf;
  }
};
