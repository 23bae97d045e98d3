// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: the entry points, a kernel for each value of KERNEL. problem.cuh has the
// contract that all share; the parameters are those of the manifests of gemm and gemm_strided.
#include "configuration.cuh"
#include "fast.cuh"
#include "micro.cuh"
#include "naive.cuh"
#include "pack.cuh"
#include "problem.cuh"
#include "reference.cuh"
#include "single_block.cuh"
#include "tiled.cuh"

#if KERNEL == KERNEL_NAIVE

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_naive(GEMM_ARGUMENTS) {
  multiply_naive<Configuration>(problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.z));
}

#elif KERNEL == KERNEL_SINGLE_BLOCK

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE)
    gemm_single_block(GEMM_ARGUMENTS) {
  multiply_in_one_block<Configuration>(problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.z));
}

#elif KERNEL == KERNEL_TILED

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_tiled(GEMM_ARGUMENTS) {
  multiply_tiled<Configuration>(problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.z));
}

#elif KERNEL == KERNEL_MICRO

extern "C" __global__ void __launch_bounds__(THREADS) gemm_micro(GEMM_ARGUMENTS) {
  multiply_micro<Configuration>(problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.z));
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
  lda = SIZE_lda, ldb = SIZE_ldb, ldc = SIZE_ldc, ldd = SIZE_ldd;
#endif
  multiply_fast<Configuration>(
      GEMM_PROBLEM, {split_k, raster_rows, packed_a, packed_b, partial, counters, MAPS}, shared);
}

#if PACK != PACK_NONE
extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb) {
  pack_operands<Configuration>(A, B, packed_a, packed_b, M, N, K, lda, ldb);
}
#endif

#endif

extern "C" __global__ void gemm_reference(const real* A, const real* B, const real* C,
                                          reference_result* result, real alpha, real beta, int M,
                                          int N, int K, int lda, int ldb, int ldc, int ldd) {
  real* const D = nullptr;
  multiply_for_reference<ProblemConfiguration>(GEMM_PROBLEM, result);
}
