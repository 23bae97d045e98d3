// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C + bias) in f16 or bf16 with sums in f32, on tensor
// cores: the entry points. Row-major, any size. op(A) is M x K, op(B) K x N; a transposed operand
// lies in memory as K x M or N x K. With BATCHED, there are several products. Matrices of one
// operand and their rows lie one behind another; with STRIDED, at any distance. multiply_slabs.cuh
// has wgmma's kernel, multiply_slices.cuh that of mma.sync. Macros: gemm16.target.toml. This is the
// only file that reads them.
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

#if STRIDED
#define PRODUCTS                                                                                  \
  , int products, long long lda, long long ldb, long long ldc, long long ldd, long long stride_a, \
      long long stride_b, long long stride_c, long long stride_d
#define BATCH \
  Batch { products, (int)lda, (int)ldb, (int)ldc, (int)ldd, stride_a, stride_b, stride_c, stride_d }
#else
#if BATCHED
#define PRODUCTS , int products
#else
#define PRODUCTS
constexpr int products = 1;
#endif
#define BATCH packed_batch(M, N, K, products)

__device__ __forceinline__ Batch packed_batch(int M, int N, int K, int number) {
  const long long m = M, n = N;
  return {number,
          A_ALONG_K ? K : M,
          B_ALONG_K ? K : N,
          N,
          N,
          m * K,
          n * K,
          kScale == Scale::beta ? m * n : 0,
          m * n};
}
#endif

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
  const Batch batch = BATCH;
  multiply_slices<Configuration, result>({A, B, batch.lda, batch.ldb, K},
                                         {C, bias, alpha, beta, M, N, batch.ldc, batch.ldd}, D,
                                         batch, group, shared);
}

#elif KERNEL == KERNEL_WGMMA

struct Configuration {
  static constexpr Factor kFactor = ::kFactor;
  static constexpr bool kBatched = BATCHED, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = DEPTH, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = SPLIT_K;
  static constexpr int kBeside = BESIDE, kBelow = BELOW;
  static constexpr bool kAlternate = ALTERNATE;
  static constexpr bool kRowsByThreads = ROWS_BY_THREADS, kColumnsByThreads = COLUMNS_BY_THREADS;
  static constexpr bool kRowsAlongK = SWAP ? B_ALONG_K : A_ALONG_K;
  static constexpr bool kColumnsAlongK = SWAP ? A_ALONG_K : B_ALONG_K;
  static constexpr Scale kScale = ::kScale;
  static constexpr Epilogue kEpilogue = ::kEpilogue;
};

extern "C" __global__ void __launch_bounds__(kPadThreads)
    gemm16_pad(const real* A, const real* B, real* padded_a, real* padded_b, int M, int N,
               int K PRODUCTS) {
  follow_kernel_ahead();
  Padded<real> a{A, padded_a, products * (A_ALONG_K ? M : K), A_ALONG_K ? K : M};
  Padded<real> b{B, padded_b, products * (B_ALONG_K ? N : K), B_ALONG_K ? K : N};
#if STRIDED
  a.lines_of_product = A_ALONG_K ? M : K, a.distance = lda, a.stride = stride_a;
  b.lines_of_product = B_ALONG_K ? N : K, b.distance = ldb, b.stride = stride_b;
#endif
  if (blockIdx.y == 0) {
    if (A_PADDED) pad_rows<VECTOR_A>(a);
  } else {
    if (B_PADDED) pad_rows<VECTOR_B>(b);
  }
}

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + PRODUCERS, MIN_BLOCKS)
    gemm16_wgmma(const real* A, const real* B, const result* C, const result* bias, result* D,
                 float alpha, float beta, int M, int N, int K PRODUCTS,
                 const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
                 const __grid_constant__ TensorMap d_map, int group, int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  const Batch batch = BATCH;
  const Lines a{A, A_ALONG_K ? M : K, 2 * (A_ALONG_K ? K : M), 2ll * batch.lda, 2 * batch.stride_a};
  const Lines b{B, B_ALONG_K ? N : K, 2 * (B_ALONG_K ? K : N), 2ll * batch.ldb, 2 * batch.stride_b};
  multiply_slabs<Configuration, result>({a_map, a}, {b_map, b}, d_map,
                                        {C, bias, alpha, beta, M, N, batch.ldc, batch.ldd}, D, K,
                                        batch, group, copied_bytes, shared);
}

#endif

// The right answer, an element a thread, in double. Grid M·N/256 rounded up for all products, block
// 256.
extern "C" __global__ void gemm16_reference(const real* A, const real* B, const result* C,
                                            const result* bias, double* D, float alpha, float beta,
                                            int M, int N, int K PRODUCTS) {
  const Batch batch = BATCH;
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x, each = (long long)M * N;
  if (at >= batch.products * each) return;
  const long long product = at / each, m = at % each / N, n = at % N;
  A += product * batch.stride_a, B += product * batch.stride_b;
  double sum = 0;
  for (long long k = 0; k < K; ++k) {
    const float a = A[A_ALONG_K ? m * batch.lda + k : k * batch.lda + m];
    const float b = B[B_ALONG_K ? n * batch.ldb + k : k * batch.ldb + n];
    sum += (double)a * b;
  }
  const Output<double, result> out{
      C + product * batch.stride_c, bias, alpha, beta, M, N, batch.ldc, batch.ldd};
  D[product * batch.stride_d + m * batch.ldd + n] = out.value<kScale, kEpilogue>(sum, m, n);
}
