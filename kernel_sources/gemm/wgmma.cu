// SPDX-License-Identifier: Apache-2.0
// The entry points of products in 16 bits by wgmma (multiply_slabs.cuh).
#include "multiply_slabs.cuh"
#include "pack_lines.cuh"

struct Configuration : PlacedConfiguration {
  static constexpr bool kByTma = STORE_BY_TMA, kSwapped = SWAP;
  static constexpr int kRows = ROWS, kColumns = COLUMNS, kDepth = SLAB_BYTES / 2, kStages = STAGES;
  static constexpr int kWarpgroups = WARPGROUPS;
  static constexpr int kParts = IN_TURN ? 1 : K_PARTS, kChains = IN_TURN ? K_PARTS : 1;
  static constexpr int kBeside = BESIDE, kBelow = BELOW;
  static constexpr bool kAlternate = ALTERNATE, kMovesRegisters = MOVES_REGISTERS;
  static constexpr bool kRowsByThreads = ROWS_BY_THREADS, kColumnsByThreads = COLUMNS_BY_THREADS;
  static constexpr bool kRowsAlongK = SWAP ? B_ALONG_K : A_ALONG_K;
  static constexpr bool kColumnsAlongK = SWAP ? A_ALONG_K : B_ALONG_K;
};

extern "C" __global__ void __launch_bounds__(kPackThreads)
    gemm_pad(const element* A, const element* B, element* padded_a, element* padded_b, int M, int N,
             int K PLACES) {
  follow_kernel_ahead();
  Padded<element> a{A, padded_a, products * (A_ALONG_K ? M : K), A_ALONG_K ? K : M};
  Padded<element> b{B, padded_b, products * (B_ALONG_K ? N : K), B_ALONG_K ? K : N};
#if STRIDED
  a.lines_of_product = A_ALONG_K ? M : K, a.distance = lda, a.stride = stride_a;
  b.lines_of_product = B_ALONG_K ? N : K, b.distance = ldb, b.stride = stride_b;
#endif
  if (blockIdx.y == 0) {
    if (A_PADDED) pad_rows<VECTOR_A>(a);
  } else {
    if (B_PADDED) pad_rows<VECTOR_B>(b);
  }
}

extern "C" __global__ void __launch_bounds__(128 * WARPGROUPS + PRODUCERS, MIN_BLOCKS)
    gemm_wgmma(const element* A, const element* B, const result* C, const result* bias, result* D,
               float alpha, float beta, int M, int N, int K PLACES,
               const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map,
               const __grid_constant__ TensorMap d_map, int group, int copied_bytes) {
  DYNAMIC_SHARED(char, shared);
  const Batch batch = BATCH;
  const Lines a{A, A_ALONG_K ? M : K, 2 * (A_ALONG_K ? K : M), 2ll * batch.lda, 2 * batch.stride_a};
  const Lines b{B, B_ALONG_K ? N : K, 2 * (B_ALONG_K ? K : N), 2ll * batch.ldb, 2 * batch.stride_b};
  multiply_slabs<Configuration, result>({a_map, a}, {b_map, b}, d_map,
                                        {C, bias, alpha, beta, M, N, batch.ldc, batch.ldd}, D, K,
                                        batch, group, copied_bytes, shared);
}
