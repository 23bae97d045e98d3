// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C + bias) in f16 or bf16 with sums in f32, on tensor
// cores: the entry points. Row-major, any size. op(A) is M x K, op(B) K x N; a transposed operand
// lies in memory as K x M or N x K. Rows have no padding. With BATCHED, there are several products,
// and the matrices of one operand lie one behind another. multiply_slabs.cuh has wgmma's kernel,
// multiply_slices.cuh that of mma.sync. Macros: gemm16.target.toml. This is the only file that
// reads them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "multiply_slabs.cuh"
#include "multiply_slices.cuh"
#include "output.cuh"
#include "pad_rows.cuh"

#if DTYPE == DTYPE_BF16
typedef __nv_bfloat16 real;
#else
typedef __half real;
#endif
typedef OUTPUT result;

constexpr Factor kFactor = DTYPE == DTYPE_BF16 ? Factor::bf16 : Factor::f16;
constexpr Scale kScale = (Scale)SCALE;
constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;

#if BATCHED
#define PRODUCTS , int products
#else
#define PRODUCTS
constexpr int products = 1;
#endif

__device__ __forceinline__ Batch batch_of(int number, int M, int N, int K) {
  const long long m = M, n = N;
  return {number, m * K, n * K, kScale == Scale::beta ? m * n : 0, m * n};
}

#if KERNEL == KERNEL_MMA

struct Configuration {
  typedef real Element;
  static constexpr Factor kFactor = ::kFactor;
  static constexpr int kRows = BM, kColumns = BN, kDepth = BK, kStages = STAGES;
  static constexpr int kWarpsDown = WARPS_M, kWarpsAcross = WARPS_N;
  static constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
  static constexpr int kCopyA = VECTOR_A, kCopyB = VECTOR_B, kStoreWidth = VECTOR_D;
  static constexpr bool kBatched = BATCHED, kStoreByRows = STORE == STORE_SHARED;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N)
    gemm16(const real* __restrict__ A, const real* __restrict__ B, const result* C,
           const result* bias, result* D, float alpha, float beta, int M, int N, int K PRODUCTS,
           int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  multiply_slices<Configuration, result>({A, B, A_ALONG_K ? K : M, B_ALONG_K ? K : N, K},
                                         {C, bias, alpha, beta, M, N}, D,
                                         batch_of(products, M, N, K), group, shared);
}

#elif KERNEL == KERNEL_WGMMA

struct Configuration {
  static constexpr Factor kFactor = ::kFactor;
  static constexpr bool kBatched = BATCHED, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = DEPTH, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = SPLIT_K;
  static constexpr bool kRowsAlongK = SWAP ? B_ALONG_K : A_ALONG_K;
  static constexpr bool kColumnsAlongK = SWAP ? A_ALONG_K : B_ALONG_K;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(kPadThreads)
    gemm16_pad(const real* A, const real* B, real* padded_a, real* padded_b, int M, int N,
               int K PRODUCTS) {
  follow_kernel_ahead();
  if (blockIdx.y == 0) {
    const int lines = products * (A_ALONG_K ? M : K);
    if (A_PADDED) pad_rows<VECTOR_A, real>({A, padded_a, lines, A_ALONG_K ? K : M});
  } else {
    const int lines = products * (B_ALONG_K ? N : K);
    if (B_PADDED) pad_rows<VECTOR_B, real>({B, padded_b, lines, B_ALONG_K ? K : N});
  }
}

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + 32, MIN_BLOCKS)
    gemm16_wgmma(const result* C, const result* bias, result* D, float alpha, float beta, int M,
                 int N, int K PRODUCTS, const __grid_constant__ TensorMap a_map,
                 const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
                 int group, int copied_bytes, float* partial, int* counters) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, result>(a_map, b_map, d_map, {C, bias, alpha, beta, M, N}, D, K,
                                        batch_of(products, M, N, K), group, copied_bytes,
                                        {partial, counters}, shared);
}

#endif

// The right answer, an element a thread, in double. Grid M·N/256 rounded up for all products, block
// 256.
extern "C" __global__ void gemm16_reference(const real* A, const real* B, const result* C,
                                            const result* bias, double* D, float alpha, float beta,
                                            int M, int N, int K PRODUCTS) {
  const Batch batch = batch_of(products, M, N, K);
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x, each = (long long)M * N;
  if (at >= batch.products * each) return;
  const long long product = at / each;
  const int m = at % each / N, n = at % N;
  A += product * batch.stride_a, B += product * batch.stride_b;
  double sum = 0;
  for (int k = 0; k < K; ++k) {
    const float a = A[A_ALONG_K ? (long long)m * K + k : (long long)k * M + m];
    const float b = B[B_ALONG_K ? (long long)n * K + k : (long long)k * N + n];
    sum += (double)a * b;
  }
  D[at] = Output<double, result>{C + product * batch.stride_c, bias, alpha, beta, M, N}
              .value<kScale, kEpilogue>(sum, m, n);
}
