// SPDX-License-Identifier: Apache-2.0
// Cache blocking: few threads, each with whole kTM x kTN micro tiles of the block's kBM x kBN tile,
// in slices of kBK along k. Partial sums wait in shared memory between slices. With one thread a
// block and micro tiles a few vectors wide this is what a CPU wants.
// Grid (N/kBN, M/kBM, kBatch) rounded up, block kThreads. Static shared memory: kBM*kBK + kBK*kBN +
// kBM*kBN elements. kTM divides kBM, kTN divides kBN; any M, N, K: shared memory has zeros past the
// edges.
#include "device/lanes.cuh"

constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN, kThreads = THREADS;

struct MicroKernel {
  using Config = ProblemConfiguration;
  // As many columns as fill a CPU's widest register.
  static constexpr int kLanes = kTN * sizeof(real) < 64 ? kTN : 64 / sizeof(real);
  typedef Lanes<real, kLanes> Columns;

  /// B lies in panels of kTN columns, so that a micro tile reads one contiguous piece of it.
  static __device__ inline int panel_at(int k, int n) {
    return (n / kTN) * kBK * kTN + k * kTN + n % kTN;
  }

  static __device__ inline void load_a(real* tile, const Problem& p, int m0, int k0) {
    const bool inside = m0 + kBM <= p.M && k0 + kBK <= p.K && !Config::kATransposed;
    for (int m = threadIdx.x; m < kBM; m += kThreads) {
      if (inside) {
        const real* row = p.A + (long long)(m0 + m) * p.lda + k0;
        for (int k = 0; k < kBK; ++k) tile[m * kBK + k] = row[k];
      } else {
        for (int k = 0; k < kBK; ++k)
          tile[m * kBK + k] =
              m0 + m < p.M && k0 + k < p.K ? a_at<Config>(p, m0 + m, k0 + k) : real(0);
      }
    }
  }

  static __device__ inline void load_b(real* tile, const Problem& p, int n0, int k0) {
    const bool inside = n0 + kBN <= p.N && k0 + kBK <= p.K && !Config::kBTransposed;
    for (int at = threadIdx.x; at < kBK * (kBN / kTN); at += kThreads) {
      const int k = at / (kBN / kTN), n = at % (kBN / kTN) * kTN;
      real* to = tile + panel_at(k, n);
      if (inside) {
        const real* from = p.B + (long long)(k0 + k) * p.ldb + n0 + n;
#pragma unroll
        for (int j = 0; j < kTN; ++j) to[j] = from[j];
      } else {
        for (int j = 0; j < kTN; ++j)
          to[j] = k0 + k < p.K && n0 + n + j < p.N ? b_at<Config>(p, k0 + k, n0 + n + j) : real(0);
      }
    }
  }

  /// sums[kTM][kTN] (rows kBN long) += rows of A times a panel of B.
  static __device__ inline void multiply_micro_tile(const real* a, const real* b, real* sums) {
    Columns sum[kTM][kTN / kLanes];
#pragma unroll
    for (int i = 0; i < kTM; ++i) {
#pragma unroll
      for (int j = 0; j < kTN / kLanes; ++j)
        sum[i][j] = *reinterpret_cast<const Columns*>(sums + i * kBN + j * kLanes);
    }
#pragma unroll 1
    for (int k = 0; k < kBK; ++k) {
#pragma unroll
      for (int j = 0; j < kTN / kLanes; ++j) {
        const Columns columns = *reinterpret_cast<const Columns*>(b + k * kTN + j * kLanes);
#pragma unroll
        for (int i = 0; i < kTM; ++i) sum[i][j] += a[i * kBK + k] * columns;
      }
    }
#pragma unroll
    for (int i = 0; i < kTM; ++i) {
#pragma unroll
      for (int j = 0; j < kTN / kLanes; ++j)
        *reinterpret_cast<Columns*>(sums + i * kBN + j * kLanes) = sum[i][j];
    }
  }
};

extern "C" __global__ void __launch_bounds__(THREADS) gemm_micro(GEMM_ARGUMENTS) {
  using Kernel = MicroKernel;
  const Problem p = PRODUCT(blockIdx.z);
  __shared__ real a_tile[kBM * kBK];
  __shared__ real b_tile[kBK * kBN];
  __shared__ real sums[kBM * kBN];
  const int m0 = blockIdx.y * kBM, n0 = blockIdx.x * kBN;
  for (int at = threadIdx.x; at < kBM * kBN; at += kThreads) sums[at] = 0;

  for (int k0 = 0; k0 < p.K; k0 += kBK) {
    __syncthreads();
    Kernel::load_a(a_tile, p, m0, k0);
    Kernel::load_b(b_tile, p, n0, k0);
    __syncthreads();
    for (int tile = threadIdx.x; tile < (kBM / kTM) * (kBN / kTN); tile += kThreads) {
      const int m = tile % (kBM / kTM) * kTM, n = tile / (kBM / kTM) * kTN;
      Kernel::multiply_micro_tile(a_tile + m * kBK, b_tile + Kernel::panel_at(0, n),
                                  sums + m * kBN + n);
    }
  }

  __syncthreads();
  for (int at = threadIdx.x; at < kBM * kBN; at += kThreads) {
    const int m = m0 + at / kBN, n = n0 + at % kBN;
    if (m < p.M && n < p.N) store<ProblemConfiguration>(p, m, n, sums[at]);
  }
}
