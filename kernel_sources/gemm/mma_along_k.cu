// SPDX-License-Identifier: Apache-2.0
// The entry point of products of operands along k by mma.sync (multiply_slices.cuh).
#include "multiply_slices.cuh"

struct Configuration : PackedConfiguration {
  typedef element Element;
  static constexpr int kRows = BM, kColumns = BN, kStages = STAGES;
  static constexpr int kDepth = SLICE_BYTES / sizeof(element);
  static constexpr int kWarpsDown = WARPS_M, kWarpsAcross = WARPS_N;
  static constexpr bool kAAlongK = true, kBAlongK = true;
  static constexpr int kCopyA = 16 / sizeof(element), kCopyB = kCopyA, kStoreWidth = VECTOR_D;
  static constexpr bool kStoreByRows = STORE == STORE_SHARED;
};

extern "C" __global__ void __launch_bounds__(32 * WARPS_M * WARPS_N)
    gemm_mma(const element* A, const element* B, RESULT_ARGUMENTS, int pitch_a, int pitch_b,
             int group) {
  extern __shared__ __align__(16) unsigned char shared[];
  follow_kernel_ahead();
  multiply_slices<Configuration, result>({A, B, pitch_a, pitch_b, K}, RESULT, D, {}, group, shared);
}
