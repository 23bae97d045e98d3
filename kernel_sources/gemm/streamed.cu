// SPDX-License-Identifier: Apache-2.0
// The entry points of products of an operand that streams through and a split one
// (multiply_streamed.cuh).
#include "device/shared_memory.cuh"
#include "multiply_streamed.cuh"
#include "pack_planes.cuh"

struct Configuration : ProblemConfiguration {
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kStages = STAGES, kParts = K_PARTS;
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
