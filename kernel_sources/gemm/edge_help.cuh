// SPDX-License-Identifier: Apache-2.0
// EDGE_HELP: a last row of tiles of which no more than the upper half is there. The warps of the
// lower half would have nothing to do: they do the second half of each slice for those of the upper
// one, which add the sums up at the end. Without EDGE_HELP this is nothing.
#pragma once

struct EdgeHelp {
  bool half_there, helps;

  /// `m_left` rows are there from the tile's first on.
  __device__ __forceinline__ EdgeHelp(ThreadPlace& place, int m_left)
      : half_there(EDGE_HELP && m_left <= BM / 2), helps(half_there && place.m >= BM / 2) {
    if (helps) place.m -= BM / 2;
  }

  __device__ __forceinline__ void share_steps(StagePlace& place) const {
    if (helps) {
      place.from = kDepth / 2;
    } else if (half_there) {
      place.to = kDepth / 2;
    }
  }

  /// Leaves the helpers' sums below the last row.
  __device__ __forceinline__ void add(real (&sum)[TM][TN], real* shared, ThreadPlace& place) const {
    if (!half_there) return;
    real* const given = shared + threadIdx.x % (kThreads / 2);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TM * TN; ++i) {
      if (helps) given[i * (kThreads / 2)] = sum[i / TN][i % TN];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TM * TN; ++i) {
      if (!helps) sum[i / TN][i % TN] += given[i * (kThreads / 2)];
    }
    if (helps) place.m += BM / 2;
  }
};
