// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: the entry points, a kernel for each value of KERNEL. problem.cuh has the
// contract that all share; the parameters are those of gemm's manifest. With BATCHED, there are
// several products. Matrices of one operand lie one behind another; with STRIDED, at any distance,
// and their rows have any length.
#include "configuration.cuh"
#include "fast.cuh"
#include "micro.cuh"
#include "naive.cuh"
#include "pack.cuh"
#include "problem.cuh"
#include "reference.cuh"
#include "single_block.cuh"
#include "tiled.cuh"
#if KERNEL == KERNEL_BATCHED
#include "batched.cuh"
#endif

#if STRIDED && BATCHED
#define STRIDE_ARGUMENTS \
  , long long stride_a, long long stride_b, long long stride_c, long long stride_d
#define PACK_STRIDES stride_a, stride_b
#define PRODUCT(index) product_at(GEMM_PROBLEM, index, stride_a, stride_b, stride_c, stride_d)

__device__ __forceinline__ Problem product_at(Problem first, int index, long long stride_a,
                                              long long stride_b, long long stride_c,
                                              long long stride_d) {
  first.A += index * stride_a, first.B += index * stride_b, first.D += index * stride_d;
  if (ProblemConfiguration::kScale == Scale::beta) first.C += index * stride_c;
  return first;
}
#else
#define STRIDE_ARGUMENTS
#define PACK_STRIDES 0, 0
#define PRODUCT(index) problem_of_batch<ProblemConfiguration>(GEMM_PROBLEM, index)
#endif
#define GEMM_ARGUMENTS                                                                       \
  const real *A, const real *B, const real *C, real *D, real alpha, real beta, int M, int N, \
      int K, int lda, int ldb, int ldc, int ldd STRIDE_ARGUMENTS
#define GEMM_PROBLEM                                             \
  Problem {                                                      \
    A, B, C, D, alpha, beta, M, N, K, lda, ldb,                  \
        has_bias(ProblemConfiguration::kEpilogue) ? 0 : ldc, ldd \
  }

#if KERNEL == KERNEL_NAIVE

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_naive(GEMM_ARGUMENTS) {
  multiply_naive<Configuration>(PRODUCT(blockIdx.z));
}

#elif KERNEL == KERNEL_SINGLE_BLOCK

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE)
    gemm_single_block(GEMM_ARGUMENTS) {
  multiply_in_one_block<Configuration>(PRODUCT(blockIdx.z));
}

#elif KERNEL == KERNEL_TILED

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_tiled(GEMM_ARGUMENTS) {
  multiply_tiled<Configuration>(PRODUCT(blockIdx.z));
}

#elif KERNEL == KERNEL_MICRO

extern "C" __global__ void __launch_bounds__(THREADS) gemm_micro(GEMM_ARGUMENTS) {
  multiply_micro<Configuration>(PRODUCT(blockIdx.z));
}

#elif KERNEL == KERNEL_FAST

#if LOADER == LOADER_TMA
#define MAP_ARGUMENTS \
  , const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map
#define MAPS &a_map, &b_map
#else
#define MAP_ARGUMENTS
#define MAPS nullptr, nullptr
#endif

extern "C" __global__ void __launch_bounds__(Configuration::kThreads, Configuration::kMinBlocks)
    gemm_fast(GEMM_ARGUMENTS, int split_k, int raster_rows, const real* packed_a,
              const real* packed_b, real* partial, int* counters MAP_ARGUMENTS) {
  DYNAMIC_SHARED(real, shared);
#if STATIC_SIZES && STRIDED
  M = SIZE_M, N = SIZE_N, K = SIZE_K;
  lda = BAKED_LDA, ldb = BAKED_LDB, ldc = BAKED_LDC, ldd = BAKED_LDD;
#endif
#if STRIDED && BATCHED
  const int product = blockIdx.z / (REDUCTION == REDUCTION_NONE ? 1 : split_k);
  packed_a += (long long)product * K * ((M + BM - 1) / BM * BM);
  packed_b += (long long)product * K * ((N + BN - 1) / BN * BN);
  const Problem problem = PRODUCT(product);
#else
  const Problem problem = GEMM_PROBLEM;
#endif
  multiply_fast<Configuration>(
      problem, {split_k, raster_rows, packed_a, packed_b, partial, counters, MAPS}, shared);
}

#if PACK != PACK_NONE
extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb STRIDE_ARGUMENTS) {
  pack_operands<Configuration>(A, B, packed_a, packed_b, M, N, K, lda, ldb, PACK_STRIDES);
}
#endif

#elif KERNEL == KERNEL_BATCHED

#if STRIDED
#define DISTANCES                                                                     \
  , long long lda, long long ldb, long long ldd, long long stride_a, long long stride_b, \
      long long stride_d
#else
#define DISTANCES
#endif

extern "C" __global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_batched(const real* a, const real* b, real* c, int batch, int m, int n, int k DISTANCES) {
  m = SIZE_M, n = SIZE_N, k = SIZE_K;
  for (long long i = blockIdx.z; i < batch; i += gridDim.z) {
#if STRIDED
    multiply_small(a + i * stride_a, b + i * stride_b, c + i * stride_d, m, n, k, lda, ldb, ldd);
#else
    multiply_small(a + i * m * k, b + i * k * n, c + i * m * n, m, n, k, k, n, n);
#endif
  }
}

#endif

#if BATCHED
#define PRODUCTS , int products

struct OneProduct : ProblemConfiguration {
  static constexpr int kBatch = 1;
};
#else
#define PRODUCTS
#endif

extern "C" __global__ void gemm_reference(const real* A, const real* B, const real* C,
                                          reference_real* result, real alpha, real beta, int M,
                                          int N, int K, int lda, int ldb, int ldc,
                                          int ldd STRIDE_ARGUMENTS PRODUCTS) {
  real* const D = nullptr;
#if BATCHED
  for (int i = blockIdx.z; i < products; i += gridDim.z) {
    const Problem problem = PRODUCT(i);
    multiply_for_reference<OneProduct>(problem, result + (problem.D - D));
  }
#else
  multiply_for_reference<ProblemConfiguration>(GEMM_PROBLEM, result);
#endif
}
