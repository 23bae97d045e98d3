// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C + bias) in f32 on tensor cores, which round A and B to
// tf32: 11 significant bits. Row-major, any size. op(A) is M x K, op(B) K x N; a transposed operand
// lies in memory as K x M or N x K. Operands that do not lie along k, in lines of multiples of 16
// bytes, are packed by gemm_pack. The kernels are gemm16's.
// Macros: gemm_tf32.target.toml. This is the only file that reads them.
#include "device/early_start.cuh"
#include "gemm16/multiply_slabs.cuh"
#include "gemm16/multiply_slices.cuh"
#include "gemm_i8/pack_along_k.cuh"

constexpr Scale kScale = (Scale)SCALE;
constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const float* A, const float* B, float* packed_a, float* packed_b, int M, int N,
              int K) {
  follow_kernel_ahead();
  if (blockIdx.y == 0) {
    if (A_PACKED) pack_along_k<A_ALONG_K, VECTOR_A, float>({A, packed_a, M, K});
  } else {
    if (B_PACKED) pack_along_k<B_ALONG_K, VECTOR_B, float>({B, packed_b, N, K});
  }
}

#if KERNEL == KERNEL_MMA

struct Configuration {
  typedef float Element;
  static constexpr Factor kFactor = Factor::tf32;
  static constexpr int kRows = BM, kColumns = BN, kDepth = BK, kStages = STAGES;
  static constexpr int kWarpsDown = WARPS_M, kWarpsAcross = WARPS_N;
  static constexpr bool kAAlongK = true, kBAlongK = true;
  static constexpr int kCopyA = 4, kCopyB = 4, kStoreWidth = VECTOR_D;
  static constexpr bool kBatched = false, kStoreByRows = STORE == STORE_SHARED;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N)
    gemm_mma(const float* A, const float* B, const float* C, const float* bias, float* D,
             float alpha, float beta, int M, int N, int K, int pitch_a, int pitch_b, int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  follow_kernel_ahead();
  multiply_slices<Configuration, float>({A, B, pitch_a, pitch_b, K}, {C, bias, alpha, beta, M, N},
                                        D, {}, group, shared);
}

#elif KERNEL == KERNEL_WGMMA

struct Configuration {
  static constexpr Factor kFactor = Factor::tf32;
  static constexpr bool kBatched = false, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = DEPTH, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = SPLIT_K;
  static constexpr int kBeside = 1, kBelow = 1;
  static constexpr bool kAlternate = ALTERNATE;
  static constexpr bool kRowsByThreads = false, kColumnsByThreads = false;
  static constexpr bool kRowsAlongK = !ROWS_ACROSS, kColumnsAlongK = true;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + 32, MIN_BLOCKS)
    gemm_wgmma(const float* C, const float* bias, float* D, float alpha, float beta, int M, int N,
               int K, const __grid_constant__ TensorMap a_map,
               const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
               int group, int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, float>({a_map}, {b_map}, d_map, {C, bias, alpha, beta, M, N}, D, K,
                                       {}, group, copied_bytes, shared);
}

#endif

// The right answer, an element a thread, in double. Grid M·N/256 rounded up, block 256.
extern "C" __global__ void gemm_reference(const float* A, const float* B, const float* C,
                                          const float* bias, double* D, float alpha, float beta,
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
  D[at] = Output<double, float>{C, bias, alpha, beta, M, N}.value<kScale, kEpilogue>(sum, m, n);
}
