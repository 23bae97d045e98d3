// SPDX-License-Identifier: Apache-2.0
// The entry point of products of operands along k by wgmma (multiply_slabs.cuh).
#include "multiply_slabs.cuh"

struct Configuration : PackedConfiguration {
  static constexpr bool kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kStages = STAGES;
  static constexpr int kDepth = SLAB_BYTES / sizeof(element);
  static constexpr int kWarpgroups = WARPGROUPS, kParts = K_PARTS, kChains = 1;
  static constexpr int kBeside = 1, kBelow = 1;
  static constexpr bool kAlternate = ALTERNATE, kMovesRegisters = false;
  static constexpr bool kRowsByThreads = false, kColumnsByThreads = false;
  static constexpr bool kRowsAlongK = !ROWS_ACROSS, kColumnsAlongK = true;
};

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + 32, MIN_BLOCKS)
    gemm_wgmma(RESULT_ARGUMENTS, const __grid_constant__ TensorMap a_map,
               const __grid_constant__ TensorMap b_map, const __grid_constant__ TensorMap d_map,
               int group, int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  multiply_slabs<Configuration, result>({a_map}, {b_map}, d_map, RESULT, D, K, {}, group,
                                        copied_bytes, shared);
}
