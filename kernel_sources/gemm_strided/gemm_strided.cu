// SPDX-License-Identifier: Apache-2.0
// D = activation(alpha op(A) op(B) + beta C) with any lda, ldb, ldc and ldd, or with a bias
// D = activation(alpha op(A) op(B) + bias): the bias is C, one row of N elements. The kernels are
// those of gemm; ../gemm/problem.cuh has the contract. Macros: those of gemm's manifest, EPILOGUE,
// and SIZE_lda … where STATIC_SIZES compiles leading dimensions in.
#include "finished_store.cuh"
// Before all others of gemm: its own stores apply no activation.
#include "gemm/configuration.cuh"
#include "gemm/fast.cuh"
#include "gemm/micro.cuh"
#include "gemm/naive.cuh"
#include "gemm/pack.cuh"
#include "gemm/single_block.cuh"
#include "gemm/tiled.cuh"

/// The configuration of gemm, but for what this kernel is given in another way.
template <class Gemm>
struct Strided : Gemm {
  static constexpr bool kStaticSizes = false;  // they come as constants, with the arguments
  static constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;
  static constexpr Scale kScale = has_bias(kEpilogue) ? Scale::beta : Gemm::kScale;
};

#define GEMM_ARGUMENTS                                                                       \
  const real *A, const real *B, const real *C, real *D, real alpha, real beta, int M, int N, \
      int K, int lda, int ldb, int ldc, int ldd
#define GEMM_PROBLEM with_bias({A, B, C, D, alpha, beta, M, N, K, lda, ldb, ldc, ldd})

/// A bias is a C whose rows all lie at one place.
__device__ __forceinline__ Problem with_bias(Problem p) {
  if (has_bias((Epilogue)EPILOGUE)) {
    p.ldc = 0, p.beta = 1;
    if (ProblemConfiguration::kScale == Scale::none) p.alpha = 1;
  }
  return p;
}

#if KERNEL == KERNEL_FAST

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
#if STATIC_SIZES
  M = SIZE_M, N = SIZE_N, K = SIZE_K;
  lda = SIZE_lda, ldb = SIZE_ldb, ldc = SIZE_ldc, ldd = SIZE_ldd;
#endif
  multiply_fast<Strided<Configuration>>(
      GEMM_PROBLEM, {split_k, raster_rows, packed_a, packed_b, partial, counters, MAPS}, shared);
}

#if PACK != PACK_NONE
extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pack(const real* A, const real* B, real* packed_a, real* packed_b, int M, int N, int K,
              int lda, int ldb) {
  pack_operands<Configuration>(A, B, packed_a, packed_b, M, N, K, lda, ldb);
}
#endif

#else

#define DEFINE_KERNEL(NAME, MULTIPLY, THREADS_A_BLOCK)                                 \
  extern "C" __global__ void __launch_bounds__(THREADS_A_BLOCK) NAME(GEMM_ARGUMENTS) { \
    MULTIPLY<Strided<Configuration>>(                                                  \
        problem_of_batch<Strided<Configuration>>(GEMM_PROBLEM, blockIdx.z));           \
  }

#if KERNEL == KERNEL_NAIVE
DEFINE_KERNEL(gemm_naive, multiply_naive, BLOCK_SIZE* BLOCK_SIZE)
#elif KERNEL == KERNEL_SINGLE_BLOCK
DEFINE_KERNEL(gemm_single_block, multiply_in_one_block, BLOCK_SIZE* BLOCK_SIZE)
#elif KERNEL == KERNEL_TILED
DEFINE_KERNEL(gemm_tiled, multiply_tiled, BLOCK_SIZE* BLOCK_SIZE)
#elif KERNEL == KERNEL_MICRO
DEFINE_KERNEL(gemm_micro, multiply_micro, THREADS)
#endif

#endif

// The right answer, an element a thread, in double.
extern "C" __global__ void gemm_strided_reference(GEMM_ARGUMENTS) {
  typedef Strided<ProblemConfiguration> Config;
  const Problem p = problem_of_batch<Config>(GEMM_PROBLEM, blockIdx.z);
  const int m = blockIdx.x, n = blockIdx.y * 64 + threadIdx.x;
  if (n >= p.N) return;
  double sum = 0;
  for (int k = 0; k < p.K; ++k) sum += (double)a_at<Config>(p, m, k) * b_at<Config>(p, k, n);
  if (Config::kScale != Scale::none) sum *= p.alpha;
  if (Config::kScale == Scale::beta && p.beta != real(0))
    sum += (double)p.beta * p.C[(long long)m * p.ldc + n];
  p.D[(long long)m * p.ldd + n] = (real)activated<Config::kEpilogue>(sum);
}
