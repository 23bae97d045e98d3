// SPDX-License-Identifier: Apache-2.0
// The block's tile of D, and how sums are written to it.
#pragma once

#include "problem.cuh"
#include "thread_tile.cuh"

template <class Config>
struct Output {
  real* D;
  const real* C;
  real alpha, beta;
  int ldd, ldc, m_left, n_left;  // D and C begin at the block's tile

  __device__ __forceinline__ void put(int m, int n, real sum) const {
    real* const to = D + (long long)m * ldd + n;
    *to = finished<Config>(sum, alpha, beta, C, (long long)m * ldc + n);
  }

  template <int kCount>
  __device__ __forceinline__ void store(int m, int n, Vector<kCount> sums) const {
    if (Config::kEdgeM && m >= m_left) return;
    // Vectors: n_left is a multiple of kCount too.
    if (kCount <= Config::kVectorD) {
      if (Config::kEdgeN && n >= n_left) return;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        sums.value[i] = finished<Config>(sums.value[i], alpha, beta, C, (long long)m * ldc + n + i);
      store_vector(D + (long long)m * ldd + n, sums);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (Config::kEdgeN && n + i >= n_left) return;
        put(m, n + i, sums.value[i]);
      }
    }
  }
};

/// Hands use(m, n, vector) every group of neighbouring columns of the thread's sums.
template <class Config, class Use>
__device__ __forceinline__ void for_each_group(const Sums<Config>& sum,
                                               const ThreadPlace<Config>& place, Use use) {
  constexpr int kGroup = BFragment<Config>::kGroup;
#pragma unroll
  for (int i = 0; i < Config::kTM; ++i) {
#pragma unroll
    for (int j = 0; j < Config::kTN; j += kGroup) {
      Vector<kGroup> group;
#pragma unroll
      for (int g = 0; g < kGroup; ++g) group.value[g] = sum[i][j + g];
      use(place.m + AFragment<Config>::outer(place.lane_m, i),
          place.n + BFragment<Config>::outer(place.lane_n, j), group);
    }
  }
}

template <class Config>
__device__ __forceinline__ void store_sums(const Sums<Config>& sum,
                                           const ThreadPlace<Config>& place,
                                           const Output<Config>& output) {
  for_each_group<Config>(sum, place,
                         [&](int m, int n, const auto& group) { output.store(m, n, group); });
}
