// SPDX-License-Identifier: Apache-2.0
// A first kernel that copies operands so that they lie along m or n, in rows of whole tiles with
// zeros past the edge: A as K x round_up(M, BM), B as K x round_up(N, BN).
// Grid (rows / 64, K / 64, BATCH * operands packed) rounded up; block 256.
#pragma once

#include "device/early_start.cuh"

constexpr int kPackSide = 64, kPackThreads = 256;

/// One square, read in chunks of WIDTH neighbours.
template <int WIDTH>
__device__ __forceinline__ void pack(real (&square)[kPackSide][kPackSide + 1], const real* from,
                                     real* to, int outer, int K, int ld, int ld_to, bool along_k) {
  constexpr int kRow = kPackSide / WIDTH, kRounds = kPackSide * kRow / kPackThreads;
  const int outer0 = blockIdx.x * kPackSide, k0 = blockIdx.y * kPackSide;
  if (outer0 >= ld_to) return;
  Vector<WIDTH> chunks[kRounds];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kRow, along = chunk % kRow * WIDTH;
    const int o = outer0 + (along_k ? across : along), k = k0 + (along_k ? along : across);
    chunks[round] = {};
    if (o < outer && k < K)
      chunks[round] = *reinterpret_cast<const Vector<WIDTH>*>(
          from + (along_k ? (long long)o * ld + k : (long long)k * ld + o));
  }
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int chunk = threadIdx.x + round * kPackThreads;
    const int across = chunk / kRow, along = chunk % kRow * WIDTH;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i)
      (along_k ? square[along + i][across] : square[across][along + i]) = chunks[round].value[i];
  }
  __syncthreads();
#pragma unroll
  for (int chunk = threadIdx.x; chunk < kPackSide * kPackSide / kWidest; chunk += kPackThreads) {
    const int k = chunk / (kPackSide / kWidest), o = chunk % (kPackSide / kWidest) * kWidest;
    Vector<kWidest> row;
#pragma unroll
    for (int i = 0; i < kWidest; ++i) row.value[i] = square[k][o + i];
    if (k0 + k < K && outer0 + o < ld_to)
      *reinterpret_cast<Vector<kWidest>*>(to + (long long)(k0 + k) * ld_to + outer0 + o) = row;
  }
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb) {
  __shared__ real square[kPackSide][kPackSide + 1];
  follow_kernel_ahead();
  const int batch = blockIdx.z / (A_PACKED + B_PACKED);
  if (A_PACKED && (!B_PACKED || blockIdx.z % 2 == 0)) {
    const int rows = (M + BM - 1) / BM * BM;
    pack<VECTOR_A>(square, A + (long long)batch * (A_IS_TRANSPOSED ? K : M) * lda,
                   packed_a + (long long)batch * K * rows, M, K, lda, rows, !A_IS_TRANSPOSED);
  } else {
    const int rows = (N + BN - 1) / BN * BN;
    pack<VECTOR_B>(square, B + (long long)batch * (B_IS_TRANSPOSED ? N : K) * ldb,
                   packed_b + (long long)batch * K * rows, N, K, ldb, rows, B_IS_TRANSPOSED);
  }
}
