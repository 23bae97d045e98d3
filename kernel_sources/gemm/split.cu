// SPDX-License-Identifier: Apache-2.0
// The entry points of products of two split operands (multiply_planes.cuh).
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
  const Problem p = PRODUCT_OF(operands, batch);
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
      PRODUCT(blockIdx.y),
      planes_of(planes_a, flags_a, M, Configuration::kBM, K, blockIdx.y),
      planes_of(planes_b, flags_b, N, Configuration::kBN, K, blockIdx.y), raster_rows, shared);
}
