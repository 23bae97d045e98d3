// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of f32 on tensor cores: the entry points. ../gemm/problem.cuh has the
// contract, the parameters are those of gemm_split's manifest. With BATCHED, there are several
// products. Matrices of one operand lie one behind another; with STRIDED, at any distance. This is
// the only file that reads the manifest's macros.
#include "gemm/problem.cuh"
#include "gemm/reference.cuh"
#include "gemm/tiled.cuh"

struct ProblemConfiguration {
  static constexpr bool kATransposed = LAYOUT == LAYOUT_TN || LAYOUT == LAYOUT_TT;
  static constexpr bool kBTransposed = LAYOUT == LAYOUT_NT || LAYOUT == LAYOUT_TT;
  static constexpr Scale kScale = (Scale)SCALE;
  static constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;
  static constexpr int kBatch = BATCHED && !STRIDED ? 2 : 1;  // 2: any number, one behind another
};

#if STRIDED
#define STRIDE_ARGUMENTS \
  , long long stride_a, long long stride_b, long long stride_c, long long stride_d
#define PRODUCT(first, index) \
  strided_product(first, index, stride_a, stride_b, stride_c, stride_d)

__device__ __forceinline__ Problem strided_product(Problem first, int index, long long stride_a,
                                                   long long stride_b, long long stride_c,
                                                   long long stride_d) {
  first.A += index * stride_a, first.B += index * stride_b, first.D += index * stride_d;
  if (ProblemConfiguration::kScale == Scale::beta) first.C += index * stride_c;
  return first;
}
#else
#define STRIDE_ARGUMENTS
#define PRODUCT(first, index) problem_of_batch<Configuration>(first, index)
#endif
#define ARGUMENTS                                                                           \
  const float *A, const float *B, const float *C, float *D, float alpha, float beta, int M, \
      int N, int K, int lda, int ldb, int ldc, int ldd STRIDE_ARGUMENTS
#define PROBLEM                                                              \
  Problem {                                                                  \
    A, B, C, D, alpha, beta, M, N, K, lda, ldb,                              \
        has_bias(ProblemConfiguration::kEpilogue) ? 0 : ldc, ldd             \
  }

#if KERNEL == KERNEL_CORES

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE, kTileSize = TILE_SIZE;
  static constexpr Prefetch kPrefetch = Prefetch::registers;
  static constexpr ALayout kALayout = ALayout::padded;
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_cores(ARGUMENTS) {
  multiply_tiled<Configuration>(PRODUCT(PROBLEM, blockIdx.z));
}

#elif KERNEL == KERNEL_SPLIT

#include "device/shared_memory.cuh"
#include "multiply_planes.cuh"
#include "pack_planes.cuh"

struct Configuration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kStages = STAGES;
  static constexpr int kGroups = K_GROUPS;  // of warpgroups that divide the slabs
  static constexpr bool kHoldsA = A_SOURCE == A_SOURCE_REGISTERS;
  static constexpr int kThreads = K_GROUPS * 2 * BM + 32;
  // Widths of accesses to A, B and D in elements, by the alignment of rows.
  static constexpr int kVectorA = VECTOR_A, kVectorB = VECTOR_B, kVectorD = VECTOR_D;
};

/// Of the product `batch`; those of an operand lie one behind another.
__device__ __forceinline__ Planes planes_of(int* words, int* flags, int rows, int tile, int K,
                                            int batch) {
  const int slabs = (K + kSlab - 1) / kSlab;
  const Planes first{reinterpret_cast<char*>(words), flags, (rows + tile - 1) / tile * tile, slabs};
  return BATCHED ? first.next(batch) : first;
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_split_pack(const float* A, const float* B, int M, int N, int K, int lda, int ldb,
                    int* planes_a, int* planes_b, int* flags_a, int* flags_b,
                    int products STRIDE_ARGUMENTS) {
  // The first blocks along z split matrices of A, the last ones those of B.
  const bool splits_a = blockIdx.z < products;
  const int batch = splits_a ? blockIdx.z : blockIdx.z - products;
  const Problem operands{A, B, nullptr, nullptr, 0, 0, M, N, K, lda, ldb, 0, 0};
  const Problem p = PRODUCT(operands, batch);
  pack_planes<Configuration>({p.A, M, K, lda}, {p.B, N, K, ldb},
                             planes_of(planes_a, flags_a, M, Configuration::kBM, K, batch),
                             planes_of(planes_b, flags_b, N, Configuration::kBN, K, batch),
                             splits_a);
}

extern "C" __global__ void __launch_bounds__(Configuration::kThreads, MIN_BLOCKS)
    gemm_split(ARGUMENTS, int* planes_a, int* planes_b, int* flags_a, int* flags_b,
               int raster_rows) {
  DYNAMIC_SHARED(char, shared);
  multiply_planes<Configuration>(
      PRODUCT(PROBLEM, blockIdx.y),
      planes_of(planes_a, flags_a, M, Configuration::kBM, K, blockIdx.y),
      planes_of(planes_b, flags_b, N, Configuration::kBN, K, blockIdx.y), raster_rows, shared);
}

#elif KERNEL == KERNEL_STREAMED

#include "device/shared_memory.cuh"
#include "multiply_streamed.cuh"
#include "pack_planes.cuh"

struct Configuration : ProblemConfiguration {
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kStages = STAGES, kParts = SPLIT_K;
  static constexpr bool kStreamsB = STREAMED == STREAMED_B;
  static constexpr bool kAlongK = kStreamsB ? kBTransposed : !kATransposed;
  static constexpr bool kPackedAlongK = kStreamsB ? !kATransposed : kBTransposed;
  static constexpr int kVectorPacked = VECTOR_PACKED, kVectorD = VECTOR_D;
};

__device__ __forceinline__ Planes planes_of(int* words, int* flags, int M, int N, int K) {
  constexpr int kColumns = Configuration::kColumns;
  const int outer = Configuration::kStreamsB ? M : N;
  return {reinterpret_cast<char*>(words), flags, (outer + kColumns - 1) / kColumns * kColumns,
          (K + kSlab - 1) / kSlab};
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_split_pack_one(const float* A, const float* B, int M, int N, int K, int lda, int ldb,
                        int* planes, int* flags) {
  __shared__ PlanesImage image;
  follow_kernel_ahead();
  const UnsplitOperand packed =
      Configuration::kStreamsB ? UnsplitOperand{A, M, K, lda} : UnsplitOperand{B, N, K, ldb};
  pack_rows<Configuration::kPackedAlongK, Configuration::kVectorPacked>(
      packed, planes_of(planes, flags, M, N, K), image);
}

extern "C" __global__ void __launch_bounds__(2 * ROWS + 32, MIN_BLOCKS)
    gemm_split_streamed(ARGUMENTS, int* planes, int* flags, float* partial, int* counters,
                        const __grid_constant__ TensorMap streamed) {
  DYNAMIC_SHARED(char, shared);
  multiply_streamed<Configuration>(PROBLEM, streamed, planes_of(planes, flags, M, N, K),
                                   {partial, counters}, shared);
}

#endif

extern "C" __global__ void gemm_reference(const float* A, const float* B, const float* C,
                                          reference_real* result, float alpha, float beta, int M,
                                          int N, int K, int lda, int ldb, int ldc,
                                          int ldd STRIDE_ARGUMENTS) {
  float* const D = nullptr;
#if STRIDED
  result += blockIdx.z * stride_d;
  multiply_for_reference<ProblemConfiguration>(PRODUCT(PROBLEM, blockIdx.z), result);
#else
  multiply_for_reference<ProblemConfiguration>(PROBLEM, result);
#endif
}
