// SPDX-License-Identifier: Apache-2.0
// D = op(A) op(B) of 8-bit integers on tensor cores, with sums and results in 32 bits, exact where
// these suffice. Row-major, any size. op(A) is M x K, op(B) K x N; a transposed operand lies in
// memory as K x M or N x K. Tensor cores want both operands along k, in lines of multiples of 16
// bytes: gemm_pack copies those that do not lie so. The kernels are gemm16's.
// Macros: gemm_i8.target.toml. This is the only file that reads them.
#include "device/early_start.cuh"
#include "gemm16/multiply_slabs.cuh"
#include "gemm16/multiply_slices.cuh"
#include "pack_along_k.cuh"

typedef signed char element;

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const element* A, const element* B, element* packed_a, element* packed_b, int M,
              int N, int K) {
  follow_kernel_ahead();
  if (blockIdx.y == 0) {
    if (A_PACKED) pack_along_k<A_ALONG_K, VECTOR_A, element>({A, packed_a, M, K});
  } else {
    if (B_PACKED) pack_along_k<B_ALONG_K, VECTOR_B, element>({B, packed_b, N, K});
  }
}

#if KERNEL == KERNEL_MMA

struct Configuration {
  typedef element Element;
  static constexpr Factor kFactor = Factor::s8;
  static constexpr int kRows = BM, kColumns = BN, kDepth = BK, kStages = STAGES;
  static constexpr int kWarpsDown = WARPS_M, kWarpsAcross = WARPS_N;
  static constexpr bool kAAlongK = true, kBAlongK = true;
  static constexpr int kCopyA = 16, kCopyB = 16, kStoreWidth = VECTOR_D;
  static constexpr bool kBatched = false, kStoreByRows = STORE == STORE_SHARED;
  static constexpr Scale kScale = Scale::none;
  static constexpr Epilogue kEpilogue = Epilogue::none;
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N)
    gemm_mma(const element* A, const element* B, int* D, int M, int N, int K, int pitch_a,
             int pitch_b, int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  follow_kernel_ahead();
  multiply_slices<Configuration, int>({A, B, pitch_a, pitch_b, K}, {nullptr, nullptr, 1, 0, M, N},
                                      D, {}, group, shared);
}

#elif KERNEL == KERNEL_WGMMA

struct Configuration {
  static constexpr Factor kFactor = Factor::s8;
  static constexpr bool kBatched = false, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = DEPTH, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = SPLIT_K;
  static constexpr int kBeside = 1, kBelow = 1;
  static constexpr bool kAlternate = ALTERNATE;
  static constexpr bool kRowsByThreads = false, kColumnsByThreads = false;
  static constexpr bool kRowsAlongK = true, kColumnsAlongK = true;
  static constexpr Scale kScale = Scale::none;
  static constexpr Epilogue kEpilogue = Epilogue::none;
};

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + 32, MIN_BLOCKS)
    gemm_wgmma(int* D, int M, int N, int K, const __grid_constant__ TensorMap a_map,
               const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
               int group, int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, int>({a_map}, {b_map}, d_map, {nullptr, nullptr, 1, 0, M, N}, D, K,
                                     {}, group, copied_bytes, shared);
}

#endif

// The right answer, an element a thread. Grid M·N/256 rounded up, block 256.
extern "C" __global__ void gemm_reference(const element* A, const element* B, int* D, int M, int N,
                                          int K) {
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (long long)M * N) return;
  const int m = at / N, n = at % N;
  int sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[A_ALONG_K ? (long long)m * K + k : (long long)k * M + m] *
           B[B_ALONG_K ? (long long)n * K + k : (long long)k * N + n];
  }
  D[at] = sum;
}
