// SPDX-License-Identifier: Apache-2.0
// The entry point of products of e4m3 and e5m2 by wgmma (multiply_slabs.cuh). `scale_a` and
// `scale_b` are read if SCALES says so.
#include "device/wgmma_fp8.cuh"
#include "multiply_slabs.cuh"

#if SCALED_OUTPUT
#define OUTPUT_ARGUMENTS , const float *scale_d, float *amax, unsigned *largest
#define OUTPUT_SCALE \
  , N, N, { scale_d, amax, largest }
#else
#define OUTPUT_ARGUMENTS
#define OUTPUT_SCALE
#endif

struct Configuration : ProblemConfiguration {
  static constexpr Factor kFactor = DTYPE == DTYPE_E4M3 ? Factor::e4m3 : Factor::e5m2;
  static constexpr bool kBatched = false, kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = SLAB_BYTES, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS, kParts = K_PARTS, kChains = 1;
  static constexpr int kBeside = 1, kBelow = 1;
  static constexpr bool kAlternate = ALTERNATE;
  static constexpr Scaled kScaled = (Scaled)SCALES;
  static constexpr int kPartsAtATime = SUMS == SUMS_PROMOTED ? PARTS_AT_A_TIME : 0;
  static constexpr bool kMovesRegisters = PRODUCERS == 128;
  static constexpr bool kRowsByThreads = false, kColumnsByThreads = false;
  static constexpr bool kRowsAlongK = true, kColumnsAlongK = true;
};

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + PRODUCERS, MIN_BLOCKS)
    gemm_wgmma(const result* C, const result* bias, result* D, float alpha, float beta, int M,
               int N, int K, const void* scale_a, const void* scale_b,
               const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
               const __grid_constant__ TensorMap d_map, int group,
               int copied_bytes OUTPUT_ARGUMENTS) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, result>({a_map, {}, static_cast<const float*>(scale_a)},
                                        {b_map, {}, static_cast<const float*>(scale_b)}, d_map,
                                        {C, bias, alpha, beta, M, N OUTPUT_SCALE}, D, K, {}, group,
                                        copied_bytes, shared);
}
