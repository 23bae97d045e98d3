// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication of f32 on tensor cores: the entry points. ../gemm/problem.cuh has the
// contract, the parameters are those of gemm_split's manifest. Only this file and
// ../gemm/problem_configuration.cuh read their macros.
#include "gemm/problem_configuration.cuh"
#include "gemm/reference.cuh"
#include "gemm/tiled.cuh"

#if KERNEL == KERNEL_CORES

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE, kTileSize = TILE_SIZE;
  static constexpr Prefetch kPrefetch = Prefetch::registers;
  static constexpr ALayout kALayout = ALayout::padded;
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE* BLOCK_SIZE) gemm_cores(GEMM_ARGUMENTS) {
  multiply_tiled<Configuration>(problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.z));
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
  return Configuration::kBatch > 1 ? first.next(batch) : first;
}

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_split_pack(const float* A, const float* B, int M, int N, int K, int lda, int ldb,
                    int* planes_a, int* planes_b, int* flags_a, int* flags_b, int products) {
  // The first blocks along z split matrices of A, the last ones those of B.
  const bool splits_a = blockIdx.z < products;
  const int batch = splits_a ? blockIdx.z : blockIdx.z - products;
  const Problem p = problem_of_batch<Configuration>(
      {A, B, nullptr, nullptr, 0, 0, M, N, K, lda, ldb, 0, 0}, batch);
  pack_planes<Configuration>({p.A, M, K, lda}, {p.B, N, K, ldb},
                             planes_of(planes_a, flags_a, M, Configuration::kBM, K, batch),
                             planes_of(planes_b, flags_b, N, Configuration::kBN, K, batch),
                             splits_a);
}

extern "C" __global__ void __launch_bounds__(Configuration::kThreads, MIN_BLOCKS)
    gemm_split(GEMM_ARGUMENTS, int* planes_a, int* planes_b, int* flags_a, int* flags_b,
               int raster_rows) {
  DYNAMIC_SHARED(char, shared);
  multiply_planes<Configuration>(
      problem_of_batch<Configuration>(GEMM_PROBLEM, blockIdx.y),
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
    gemm_split_streamed(GEMM_ARGUMENTS, int* planes, int* flags, float* partial, int* counters,
                        const __grid_constant__ TensorMap streamed) {
  DYNAMIC_SHARED(char, shared);
  multiply_streamed<Configuration>(GEMM_PROBLEM, streamed, planes_of(planes, flags, M, N, K),
                                   {partial, counters}, shared);
}

#endif

extern "C" __global__ void gemm_reference(const float* A, const float* B, const float* C,
                                          reference_result* result, float alpha, float beta, int M,
                                          int N, int K, int lda, int ldb, int ldc, int ldd) {
  float* const D = nullptr;
  multiply_for_reference<ProblemConfiguration>(GEMM_PROBLEM, result);
}
