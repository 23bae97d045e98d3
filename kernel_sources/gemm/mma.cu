// SPDX-License-Identifier: Apache-2.0
// The entry point of products in 16 bits by mma.sync (multiply_slices.cuh).
#include "multiply_slices.cuh"

struct Configuration : PlacedConfiguration {
  typedef element Element;
  static constexpr int kRows = BM, kColumns = BN, kDepth = SLICE_BYTES / 2, kStages = STAGES;
  static constexpr int kWarpsDown = WARPS_M, kWarpsAcross = WARPS_N;
  static constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
  static constexpr int kCopyA = VECTOR_A, kCopyB = VECTOR_B, kStoreWidth = VECTOR_D;
  static constexpr bool kStoreByRows = STORE == STORE_SHARED;
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N)
    gemm_mma(const element* __restrict__ A, const element* __restrict__ B, const result* C,
             const result* bias, result* D, float alpha, float beta, int M, int N, int K PLACES,
             int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  const Batch batch = BATCH;
  multiply_slices<Configuration, result>({A, B, batch.lda, batch.ldb, K},
                                         {C, bias, alpha, beta, M, N, batch.ldc, batch.ldd}, D,
                                         batch, group, shared);
}
