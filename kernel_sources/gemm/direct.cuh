// SPDX-License-Identifier: Apache-2.0
// Few rows: B is read once, so it goes from memory straight into registers, a thread's columns of
// kDepth rows at a time; A, which all threads share, comes from the caches. B must lie along n.
#pragma once

struct Direct {
  const real *A, *B;  // at the block's first row and column, k = 0
  int lda, ldb, m_left, n_left;

  __device__ __forceinline__ explicit Direct(const Operands& o)
      : lda(o.lda), ldb(o.ldb), m_left(o.M - o.m0), n_left(o.N - o.n0) {
    A = o.A + (long long)o.batch * (A_IS_TRANSPOSED ? o.K : o.M) * lda +
        (A_IS_TRANSPOSED ? o.m0 : (long long)o.m0 * lda);
    B = o.B + (long long)o.batch * o.K * ldb + o.n0;
  }

  /// Adds the products of `depth` rows from `k` on; without CHECKED there are kDepth of them.
  template <bool CHECKED>
  __device__ __forceinline__ void multiply(real (&sum)[TM][TN], const ThreadPlace& place, int k,
                                           int depth) const {
    constexpr int kWidthB = VECTOR_B < BFragment::kGroup ? VECTOR_B : BFragment::kGroup;
    constexpr int kWidthA = A_IS_TRANSPOSED ? 1 : VECTOR_A < kDepth ? VECTOR_A : kDepth;
    real a[kDepth][TM], b[kDepth][TN];
#pragma unroll
    for (int row = 0; row < kDepth; ++row) {
#pragma unroll
      for (int j = 0; j < TN; j += kWidthB) {
        const int n = place.n + BFragment::outer(place.lane_n, j);
        Vector<kWidthB> group = {};
        if ((!CHECKED || row < depth) && (!EDGE_N || n < n_left))
          group = *reinterpret_cast<const Vector<kWidthB>*>(B + (long long)(k + row) * ldb + n);
#pragma unroll
        for (int g = 0; g < kWidthB; ++g) b[row][j + g] = group.value[g];
      }
    }
#pragma unroll
    for (int m = 0; m < TM; ++m) {
#pragma unroll
      for (int row = 0; row < kDepth; row += kWidthA) {
        Vector<kWidthA> group = {};
        if ((!CHECKED || row < depth) && (!EDGE_M || m < m_left))
          group = *reinterpret_cast<const Vector<kWidthA>*>(
              A + (A_IS_TRANSPOSED ? (long long)(k + row) * lda + m
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
__device__ __forceinline__ void multiply(real (&sum)[TM][TN], const ThreadPlace& place,
                                         const Operands& operands, const Slices& slices, real*) {
  follow_kernel_ahead();
  const Direct direct(operands);
  const int k_first = place.slice * kDepth;
  if (EDGE_K && slices.first < slices.last)
    direct.multiply<true>(sum, place, slices.begin(slices.first) + k_first,
                          slices.depth(slices.first) - k_first);
  for (int i = slices.first + EDGE_K; i < slices.last; ++i)
    direct.multiply<false>(sum, place, slices.begin(i) + k_first, kDepth);
}
