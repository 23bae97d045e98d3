// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C + bias) in f16 or bf16 with sums in f32, on tensor cores:
// the entry points. Row-major, any size. op(A) is M x K, op(B) K x N; a transposed operand lies in
// memory as K x M or N x K. Rows have no padding. multiply_slabs.cuh has wgmma's kernel, this file
// that of mma.sync. Macros: gemm16.target.toml. This is the only file that reads them.
//
// mma.sync: a block makes a tile of BM x BN, its WARPS_M x WARPS_N warps one of BM/WARPS_M x
// BN/WARPS_N each. Slices of depth BK pass through STAGES buffers in shared memory, by cp.async where
// lines are multiples of two elements. STORE direct: from registers; shared: by way of shared
// memory, so that rows are written 16 bytes at a time. Grid: the tiles, GROUP rows of them running
// together.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "multiply_slabs.cuh"
#include "operand.cuh"
#include "output.cuh"
#include "pad_rows.cuh"

#if DTYPE == DTYPE_BF16
typedef __nv_bfloat16 real;
#else
typedef __half real;
#endif
typedef OUTPUT result;

constexpr bool kBfloat = DTYPE == DTYPE_BF16;
constexpr Scale kScale = (Scale)SCALE;
constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;

#if KERNEL == KERNEL_MMA

constexpr int kThreads = 32 * WARPS_M * WARPS_N;
constexpr int kWarpM = BM / WARPS_M, kWarpN = BN / WARPS_N;
constexpr int kTilesM = kWarpM / 16, kTilesN = kWarpN / 16;  // a warp's, of 16 x 16

typedef Operand<real, BM, BK, A_ALONG_K, VECTOR_A, kThreads> SliceA;
typedef Operand<real, BN, BK, B_ALONG_K, VECTOR_B, kThreads> SliceB;
constexpr int kSlices = SliceA::kElements + SliceB::kElements;

struct Problem {
  const real *A, *B;
  int M, N, K;
};

/// A warp's sums: of 16 rows and twice 8 columns each.
typedef float Sums[kTilesM][kTilesN][2][4];

/// Begins to copy the slices from k on.
__device__ __forceinline__ void copy_slices(real* to, const Problem& p, int m, int n, int k) {
  const int m_left = p.M - m, n_left = p.N - n, k_left = p.K - k;
  if (A_ALONG_K) {
    SliceA::copy(to, p.A + (long long)m * p.K + k, p.K, m_left, k_left);
  } else {
    SliceA::copy(to, p.A + (long long)k * p.M + m, p.M, k_left, m_left);
  }
  to += SliceA::kElements;
  if (B_ALONG_K) {
    SliceB::copy(to, p.B + (long long)n * p.K + k, p.K, n_left, k_left);
  } else {
    SliceB::copy(to, p.B + (long long)k * p.N + n, p.N, k_left, n_left);
  }
}

__device__ __forceinline__ void multiply_slices(const real* a, Sums& sums) {
  const real* const b = a + SliceA::kElements;
  const int warp = threadIdx.x / 32;
  const int m = warp / WARPS_N * kWarpM, n = warp % WARPS_N * kWarpN;
#pragma unroll
  for (int k = 0; k < BK; k += 16) {
    unsigned rows[kTilesM][4], columns[kTilesN][4];
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) SliceA::load<false>(rows[i], a, m + 16 * i, k);
#pragma unroll
    for (int j = 0; j < kTilesN; ++j) SliceB::load<true>(columns[j], b, n + 16 * j, k);
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
      for (int j = 0; j < kTilesN; ++j) {
        multiply_tiles<kBfloat>(sums[i][j][0], rows[i], columns[j][0], columns[j][1]);
        multiply_tiles<kBfloat>(sums[i][j][1], rows[i], columns[j][2], columns[j][3]);
      }
    }
  }
}

/// Hands use(m, n, sum, next sum) each pair of neighbours that this thread has, m and n within the
/// block's tile.
template <class Use>
__device__ __forceinline__ void for_each_pair(const Sums& sums, Use use) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m = warp / WARPS_N * kWarpM + lane / 4, n = warp % WARPS_N * kWarpN + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
    for (int j = 0; j < kTilesN * 2; ++j) {
      const float(&four)[4] = sums[i][j / 2][j % 2];
      use(m + 16 * i, n + 8 * j, four[0], four[1]);
      use(m + 16 * i + 8, n + 8 * j, four[2], four[3]);
    }
  }
}

/// Neighbours of a row, written at once.
template <int count>
struct alignas(count * sizeof(result)) Run {
  result value[count];
};

__device__ __forceinline__ void store_direct(const Sums& sums, result* D,
                                             const Output<float, result>& out, int m0, int n0) {
  for_each_pair(sums, [&](int m, int n, float first, float second) {
    m += m0, n += n0;
    if (m >= out.M || n >= out.N) return;
    result* const to = D + (long long)m * out.N + n;
    const result left = out.value<kScale, kEpilogue>(first, m, n);
    if (n + 1 == out.N) {
      *to = left;
      return;
    }
    const result right = out.value<kScale, kEpilogue>(second, m, n + 1);
    if constexpr (VECTOR_D >= 2) {
      *reinterpret_cast<Run<2>*>(to) = {left, right};
    } else {
      to[0] = left, to[1] = right;
    }
  });
}

/// `tile` holds BM rows of BN results, 16 bytes apart.
__device__ __forceinline__ void store_by_rows(const Sums& sums, result* tile, result* D,
                                              const Output<float, result>& out, int m0, int n0) {
  constexpr int kPitch = BN + 16 / sizeof(result);
  for_each_pair(sums, [&](int m, int n, float first, float second) {
    if (m0 + m >= out.M || n0 + n >= out.N) return;
    result* const to = tile + m * kPitch + n;
    to[0] = out.value<kScale, kEpilogue>(first, m0 + m, n0 + n);
    if (n0 + n + 1 < out.N) to[1] = out.value<kScale, kEpilogue>(second, m0 + m, n0 + n + 1);
  });
  __syncthreads();
  for (int i = threadIdx.x * VECTOR_D; i < BM * BN; i += kThreads * VECTOR_D) {
    const int m = i / BN, n = i % BN;
    if (m0 + m >= out.M || n0 + n >= out.N) continue;
    *reinterpret_cast<Run<VECTOR_D>*>(D + (long long)(m0 + m) * out.N + n0 + n) =
        *reinterpret_cast<const Run<VECTOR_D>*>(tile + m * kPitch + n);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm16(const real* __restrict__ A, const real* __restrict__ B, const result* C,
           const result* bias, result* D, float alpha, float beta, int M, int N, int K, int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  real* const slices = reinterpret_cast<real*>(shared);
  const int m_tiles = (M + BM - 1) / BM, n_tiles = (N + BN - 1) / BN;
  const int first = blockIdx.x / (group * n_tiles) * group;  // row of tiles of this block's group
  const int height = min(group, m_tiles - first), place = blockIdx.x % (group * n_tiles);
  const int m = (first + place % height) * BM, n = place / height * BN;
  const Problem p{A, B, M, N, K};
  const int steps = (K + BK - 1) / BK;
  Sums sums = {};
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) {
    if (step < steps) copy_slices(slices + step * kSlices, p, m, n, step * BK);
    commit_copies();
  }
  for (int step = 0; step < steps; ++step) {
    wait_copies<STAGES - 2>();
    __syncthreads();  // the slice is there, and nobody reads the one before it
    const int next = step + STAGES - 1;
    if (next < steps) copy_slices(slices + next % STAGES * kSlices, p, m, n, next * BK);
    commit_copies();
    multiply_slices(slices + step % STAGES * kSlices, sums);
  }
  const Output<float, result> out{C, bias, alpha, beta, M, N};
#if STORE == STORE_SHARED
  wait_copies<0>();
  __syncthreads();
  store_by_rows(sums, reinterpret_cast<result*>(shared), D, out, m, n);
#else
  store_direct(sums, D, out, m, n);
#endif
}

#elif KERNEL == KERNEL_WGMMA

struct Configuration {
  static constexpr bool kBfloat = ::kBfloat, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = DEPTH, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = SPLIT_K;
  static constexpr bool kRowsAlongK = SWAP ? B_ALONG_K : A_ALONG_K;
  static constexpr bool kColumnsAlongK = SWAP ? A_ALONG_K : B_ALONG_K;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(kPadThreads)
    gemm16_pad(const real* A, const real* B, real* padded_a, real* padded_b, int M, int N, int K) {
  follow_kernel_ahead();
  if (blockIdx.y == 0) {
    if (A_PADDED) pad_rows<VECTOR_A, real>({A, padded_a, A_ALONG_K ? M : K, A_ALONG_K ? K : M});
  } else {
    if (B_PADDED) pad_rows<VECTOR_B, real>({B, padded_b, B_ALONG_K ? N : K, B_ALONG_K ? K : N});
  }
}

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + 32, MIN_BLOCKS)
    gemm16_wgmma(const result* C, const result* bias, result* D, float alpha, float beta, int M,
                 int N, int K, const __grid_constant__ TensorMap a_map,
                 const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
                 int group, int copied_bytes, float* partial, int* counters) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, result>(a_map, b_map, d_map, {C, bias, alpha, beta, M, N}, D, K,
                                        group, copied_bytes, {partial, counters}, shared);
}

#endif

// The right answer, an element a thread, in double. Grid M·N/256 rounded up, block 256.
extern "C" __global__ void gemm16_reference(const real* A, const real* B, const result* C,
                                            const result* bias, double* D, float alpha, float beta,
                                            int M, int N, int K) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)M * N) return;
  const int m = at / N, n = at % N;
  double sum = 0;
  for (int k = 0; k < K; ++k) {
    const float a = A[A_ALONG_K ? (long long)m * K + k : (long long)k * M + m];
    const float b = B[B_ALONG_K ? (long long)n * K + k : (long long)k * N + n];
    sum += (double)a * b;
  }
  D[at] = Output<double, result>{C, bias, alpha, beta, M, N}.value<kScale, kEpilogue>(sum, m, n);
}
