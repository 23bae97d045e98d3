// SPDX-License-Identifier: Apache-2.0
// A first kernel that packs operands: copies of them that lie along m or n, in rows of whole tiles
// with zeros past the edge. A becomes K x round_up(M, kBM), B becomes K x round_up(N, kBN). Matrices
// of one operand lie one behind another, or with kStrided at the given distances.
// Grid (rows / 64, K / 64, kBatch * operands packed) rounded up; block 256.
#pragma once

#include "device/early_start.cuh"
#include "problem.cuh"

constexpr int kPackSide = 64, kPackThreads = 256;

/// An operand in memory: `outer` rows or columns and K, along one of the two.
struct UnpackedOperand {
  const real* from;
  int outer, K, ld;
  bool along_k;
};

/// One square of 64 x 64, read in chunks of `kWidth` neighbours, into rows of `row` elements.
template <int kWidth>
__device__ __forceinline__ void pack_square(real (&square)[kPackSide][kPackSide + 1],
                                            const UnpackedOperand& o, real* to, int row) {
  constexpr int kChunks = kPackSide / kWidth, kRounds = kPackSide * kChunks / kPackThreads;
  const int outer0 = blockIdx.x * kPackSide, k0 = blockIdx.y * kPackSide;
  if (outer0 >= row) return;
  Vector<kWidth> chunks[kRounds];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kChunks, along = chunk % kChunks * kWidth;
    const int outer = outer0 + (o.along_k ? across : along), k = k0 + (o.along_k ? along : across);
    chunks[round] = {};
    if (outer < o.outer && k < o.K)
      chunks[round] = load_vector<kWidth>(
          o.from + (o.along_k ? (long long)outer * o.ld + k : (long long)k * o.ld + outer));
  }
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kChunks, along = chunk % kChunks * kWidth;
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      (o.along_k ? square[along + i][across] : square[across][along + i]) = chunks[round].value[i];
  }
  __syncthreads();
#pragma unroll
  for (int chunk = threadIdx.x; chunk < kPackSide * kPackSide / kWidest; chunk += kPackThreads) {
    const int k = chunk / (kPackSide / kWidest), outer = chunk % (kPackSide / kWidest) * kWidest;
    Vector<kWidest> packed;
#pragma unroll
    for (int i = 0; i < kWidest; ++i) packed.value[i] = square[k][outer + i];
    if (k0 + k < o.K && outer0 + outer < row)
      store_vector(to + (long long)(k0 + k) * row + outer0 + outer, packed);
  }
}

template <class Config>
__device__ __forceinline__ void pack_operands(const real* A, const real* B, real* packed_a,
                                              real* packed_b, int M, int N, int K, int lda,
                                              int ldb, long long stride_a, long long stride_b) {
  __shared__ real square[kPackSide][kPackSide + 1];
  follow_kernel_ahead();
  const int batch = blockIdx.z / (Config::kAPacked + Config::kBPacked);
  if (Config::kAPacked && (!Config::kBPacked || blockIdx.z % 2 == 0)) {
    const int row = (M + Config::kBM - 1) / Config::kBM * Config::kBM;
    const real* const from = A + (Config::kStrided
                                      ? batch * stride_a
                                      : (long long)batch * (Config::kATransposed ? K : M) * lda);
    pack_square<Config::kVectorA>(square, {from, M, K, lda, !Config::kATransposed},
                                  packed_a + (long long)batch * K * row, row);
  } else {
    const int row = (N + Config::kBN - 1) / Config::kBN * Config::kBN;
    const real* const from = B + (Config::kStrided
                                      ? batch * stride_b
                                      : (long long)batch * (Config::kBTransposed ? N : K) * ldb);
    pack_square<Config::kVectorB>(square, {from, N, K, ldb, Config::kBTransposed},
                                  packed_b + (long long)batch * K * row, row);
  }
}
