// SPDX-License-Identifier: Apache-2.0
// Cache blocking: few threads, each working through whole TM x TN micro tiles of the block's
// BM x BN tile, slice of BK by slice of BK; partial sums wait in shared memory between slices.
// With THREADS 1 and micro tiles of some vectors' width this is how a CPU wants it.
// Grid (N/BN, M/BM, BATCH) rounded up, block THREADS. Static shared memory: BM*BK + BK*BN + BM*BN
// elements. TM divides BM, TN divides BN; any M, N, K: past the edges zeros are staged.
#pragma once

#include "device/lanes.cuh"

/// B lies in panels of TN columns, so that a micro tile reads one unbroken piece of it.
__device__ inline int panel_at(int k, int n) { return (n / TN) * BK * TN + k * TN + n % TN; }

__device__ inline void stage_a(real* tile, const real* A, int lda, int M, int K, int m0, int k0) {
  const bool inside = m0 + BM <= M && k0 + BK <= K && !A_IS_TRANSPOSED;
  for (int m = threadIdx.x; m < BM; m += THREADS) {
    if (inside) {
      const real* row = A + (long long)(m0 + m) * lda + k0;
      for (int k = 0; k < BK; ++k) tile[m * BK + k] = row[k];
    } else {
      for (int k = 0; k < BK; ++k)
        tile[m * BK + k] = m0 + m < M && k0 + k < K ? a_at(A, lda, m0 + m, k0 + k) : real(0);
    }
  }
}

__device__ inline void stage_b(real* tile, const real* B, int ldb, int N, int K, int n0, int k0) {
  const bool inside = n0 + BN <= N && k0 + BK <= K && !B_IS_TRANSPOSED;
  for (int at = threadIdx.x; at < BK * (BN / TN); at += THREADS) {
    const int k = at / (BN / TN), n = at % (BN / TN) * TN;
    real* to = tile + panel_at(k, n);
    if (inside) {
      const real* from = B + (long long)(k0 + k) * ldb + n0 + n;
#pragma unroll
      for (int j = 0; j < TN; ++j) to[j] = from[j];
    } else {
      for (int j = 0; j < TN; ++j)
        to[j] = k0 + k < K && n0 + n + j < N ? b_at(B, ldb, k0 + k, n0 + n + j) : real(0);
    }
  }
}

// As many columns as fill a CPU's widest register.
constexpr int kLanes = TN * sizeof(real) < 64 ? TN : 64 / sizeof(real);
typedef Lanes<real, kLanes> Columns;

/// sums[TM][TN] (rows BN long) += rows of A times a panel of B.
__device__ inline void multiply_micro_tile(const real* a, const real* b, real* sums) {
  Columns sum[TM][TN / kLanes];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN / kLanes; ++j)
      sum[i][j] = *reinterpret_cast<const Columns*>(sums + i * BN + j * kLanes);
  }
#pragma unroll 1
  for (int k = 0; k < BK; ++k) {
#pragma unroll
    for (int j = 0; j < TN / kLanes; ++j) {
      const Columns columns = *reinterpret_cast<const Columns*>(b + k * TN + j * kLanes);
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i][j] += a[i * BK + k] * columns;
    }
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN / kLanes; ++j)
      *reinterpret_cast<Columns*>(sums + i * BN + j * kLanes) = sum[i][j];
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) gemm_micro(GEMM_ARGUMENTS) {
  __shared__ real a_tile[BM * BK];
  __shared__ real b_tile[BK * BN];
  __shared__ real sums[BM * BN];
  GEMM_SELECT_BATCH(blockIdx.z)
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  for (int at = threadIdx.x; at < BM * BN; at += THREADS) sums[at] = 0;

  for (int k0 = 0; k0 < K; k0 += BK) {
    __syncthreads();
    stage_a(a_tile, A, lda, M, K, m0, k0);
    stage_b(b_tile, B, ldb, N, K, n0, k0);
    __syncthreads();
    for (int tile = threadIdx.x; tile < (BM / TM) * (BN / TN); tile += THREADS) {
      const int m = tile % (BM / TM) * TM, n = tile / (BM / TM) * TN;
      multiply_micro_tile(a_tile + m * BK, b_tile + panel_at(0, n), sums + m * BN + n);
    }
  }

  __syncthreads();
  for (int at = threadIdx.x; at < BM * BN; at += THREADS) {
    const int m = m0 + at / BN, n = n0 + at % BN;
    if (m < M && n < N)
      D[(long long)m * ldd + n] = scaled(sums[at], alpha, beta, C, (long long)m * ldc + n);
  }
}
