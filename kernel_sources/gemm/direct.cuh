// SPDX-License-Identifier: Apache-2.0
// The multiplication for few rows. B is read once, so it goes from memory straight into registers,
// a thread's columns of kDepth rows at a time. All threads share A, which comes from the caches. B
// must lie along n.
#pragma once

#include "block_tile.cuh"
#include "device/early_start.cuh"
#include "thread_tile.cuh"

template <class Config>
struct DirectOperands {
  static constexpr int kDepth = Config::kDepth, kTM = Config::kTM, kTN = Config::kTN;
  static constexpr int kGroup = BFragment<Config>::kGroup;
  static constexpr int kWidthB = Config::kVectorB < kGroup ? Config::kVectorB : kGroup;
  static constexpr int kWidthA = Config::kATransposed        ? 1
                                 : Config::kVectorA < kDepth ? Config::kVectorA
                                                             : kDepth;

  const real *A, *B;  // at the block's first row and column, k = 0
  int lda, ldb, m_left, n_left;

  __device__ __forceinline__ explicit DirectOperands(const Operands& o)
      : lda(o.lda), ldb(o.ldb), m_left(o.M - o.m0), n_left(o.N - o.n0) {
    A = o.A + (long long)o.batch * (Config::kATransposed ? o.K : o.M) * lda +
        (Config::kATransposed ? o.m0 : (long long)o.m0 * lda);
    B = o.B + (long long)o.batch * o.K * ldb + o.n0;
  }

  /// Adds the products of `depth` rows from `k` on; without kPredicated there are kDepth of them.
  template <bool kPredicated>
  __device__ __forceinline__ void multiply(Sums<Config>& sum, const ThreadPlace<Config>& place,
                                           int k, int depth) const {
    real a[kDepth][kTM], b[kDepth][kTN];
#pragma unroll
    for (int row = 0; row < kDepth; ++row) {
#pragma unroll
      for (int j = 0; j < kTN; j += kWidthB) {
        const int n = place.n + BFragment<Config>::outer(place.lane_n, j);
        Vector<kWidthB> group = {};
        if ((!kPredicated || row < depth) && (!Config::kEdgeN || n < n_left))
          group = load_vector<kWidthB>(B + (long long)(k + row) * ldb + n);
#pragma unroll
        for (int g = 0; g < kWidthB; ++g) b[row][j + g] = group.value[g];
      }
    }
#pragma unroll
    for (int m = 0; m < kTM; ++m) {
#pragma unroll
      for (int row = 0; row < kDepth; row += kWidthA) {
        Vector<kWidthA> group = {};
        if ((!kPredicated || row < depth) && (!Config::kEdgeM || m < m_left))
          group = load_vector<kWidthA>(A + (Config::kATransposed ? (long long)(k + row) * lda + m
                                                                 : (long long)m * lda + k + row));
#pragma unroll
        for (int g = 0; g < kWidthA; ++g) a[row + g][m] = group.value[g];
      }
    }
#pragma unroll
    for (int row = 0; row < kDepth; ++row) multiply_step(sum, a[row], b[row]);
  }
};

/// Adds the products of `slices` to `sum`.
template <class Config>
__device__ __forceinline__ void multiply_direct(Sums<Config>& sum, const ThreadPlace<Config>& place,
                                                const Operands& operands,
                                                const Slices<Config>& slices) {
  constexpr int kDepth = Config::kDepth;
  follow_kernel_ahead();
  const DirectOperands<Config> direct(operands);
  const int k_first = place.group * kDepth;
  if (Config::kEdgeK && slices.first < slices.last)
    direct.template multiply<true>(sum, place, slices.begin(slices.first) + k_first,
                                   slices.depth(slices.first) - k_first);
  for (int i = slices.first + Config::kEdgeK; i < slices.last; ++i)
    direct.template multiply<false>(sum, place, slices.begin(i) + k_first, kDepth);
}
