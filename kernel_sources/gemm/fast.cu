// SPDX-License-Identifier: Apache-2.0
// The entry points of the fast family. fast.cuh says how it works; its headers take the
// configuration as a template argument.
#include "device/shared_memory.cuh"
#include "fast.cuh"
#include "pack.cuh"
#include "tiling.cuh"

struct FastConfiguration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kLanesM = WARP_M;         // lanes of a warp along m
  static constexpr int kSliceGroups = K_SLICES;  // groups of warps that divide a slice's depth
  static constexpr int kStages = STAGES;
  static constexpr int kUnrollK = UNROLL_K;      // steps of k in one piece of code
  static constexpr int kMinBlocks = MIN_BLOCKS;  // a multiprocessor; bounds registers
  static constexpr Loader kLoader = (Loader)LOADER;
  static constexpr Reduction kReduction = (Reduction)REDUCTION;

  // Operands that a first kernel packs; those that lie along k where the fast kernel finds them,
  // and those of them whose fragments lie along k too.
  static constexpr bool kAPacked = A_PACKED, kBPacked = B_PACKED;
  static constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
  static constexpr bool kAFragmentAlongK = A_FRAGMENT_ALONG_K;
  static constexpr bool kBFragmentAlongK = B_FRAGMENT_ALONG_K;
  // Widths of accesses to A, B and D in elements, by the alignment of rows.
  static constexpr int kVectorA = VECTOR_A, kVectorB = VECTOR_B, kVectorD = VECTOR_D;
  // Whether M, N, K are no multiples of kBM, kBN, kBK; whether warps without rows help
  // (edge_help.cuh).
  static constexpr bool kEdgeM = EDGE_M, kEdgeN = EDGE_N, kEdgeK = EDGE_K;
  static constexpr bool kEdgeHelp = EDGE_HELP;

#if STATIC_SIZES && !STRIDED  // else they come as constants, in place of arguments
  static constexpr bool kStaticSizes = true;
  static constexpr int kM = SIZE_M, kN = SIZE_N, kK = SIZE_K;
  static constexpr int kRowPad = PAD;  // elements between the end of a row and the next
#else
  static constexpr bool kStaticSizes = false;
#endif
};
using Configuration = Tiling<FastConfiguration>;

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
