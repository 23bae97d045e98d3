// SPDX-License-Identifier: Apache-2.0
// The fast family: slices of A and B stream through STAGES buffers in shared memory while warps
// multiply from registers; slices of a block and blocks of a cluster or grid may share the sum over
// k. Grid (N/BN, M/BM, BATCH * SPLIT_K) rounded up, for REDUCTION tail (whole tiles + SPLIT_K *
// split tiles); block kThreads (thread_tile.cuh); cluster (1, 1, SPLIT_K) for REDUCTION
// cluster; dynamic shared memory: gemm.target.json. Any M, N, K: EDGE_M, EDGE_N, EDGE_K say which
// is no multiple of BM, BN, BK.
#pragma once

#include "device/early_start.cuh"
#include "thread_tile.cuh"

constexpr bool kARegisters =
    LOADER == LOADER_REGISTER || (A_ALONG_K && TRANSPOSE == TRANSPOSE_REGISTER);
constexpr bool kBRegisters =
    LOADER == LOADER_REGISTER || (B_ALONG_K && TRANSPOSE == TRANSPOSE_REGISTER);

using ASlice = OperandSlice<BM, BK, kThreads, A_PACKED ? kWidest : VECTOR_A, A_ALONG_K,
                            A_FRAGMENT_ALONG_K, kARegisters, EDGE_M && !A_PACKED, EDGE_K>;
using BSlice = OperandSlice<BN, BK, kThreads, B_PACKED ? kWidest : VECTOR_B, B_ALONG_K,
                            B_FRAGMENT_ALONG_K, kBRegisters, EDGE_N && !B_PACKED, EDGE_K>;
using AFragment = Fragment<ASlice, A_FRAGMENT_ALONG_K, TM, WARP_M>;
using BFragment = Fragment<BSlice, B_FRAGMENT_ALONG_K, TN, kWarpN>;

constexpr int kStage = ASlice::kElements + BSlice::kElements;
// Steps of k in one piece of code. An even number of fragments, so that loads alternate.
constexpr int kUnroll = UNROLL_K < kDepth ? UNROLL_K : kDepth;

/// The part of the sum over k that a block does: slices first..last-1 of all. Where K is no
/// multiple of BK slice 0 is the shallow one, so that later ones need no bounds along k; the tensor
/// copy engine writes zeros past the end instead.
struct Slices {
  int first, last, skew;

  __device__ __forceinline__ Slices(int K, int part, int parts) {
    const int count = (K + BK - 1) / BK;
    first = count * part / parts;
    last = count * (part + 1) / parts;
    skew = EDGE_K && LOADER != LOADER_TMA ? count * BK - K : 0;
  }
  __device__ __forceinline__ int begin(int i) const { return i == 0 ? 0 : i * BK - skew; }
  __device__ __forceinline__ int depth(int i) const { return i == 0 ? BK - skew : BK; }
};

/// A and B as they lie in global memory, and where the block's tile of D begins.
struct Operands {
  const real *A, *B;
  int lda, ldb, M, N, K, m0, n0, batch;
#if LOADER == LOADER_TMA
  const TensorMap *a_map, *b_map;
#endif
};

#include "finish.cuh"
#if LOADER == LOADER_DIRECT
#include "direct.cuh"
#else
#include "staged.cuh"
#endif

/// A block's tile, and its part of the sum over k.
struct BlockPlace {
  int m, n, part, parts, batch;

  __device__ __forceinline__ BlockPlace(int M, int N, int split_k, int swizzle) {
    m = blockIdx.y, n = blockIdx.x;
    parts = REDUCTION == REDUCTION_NONE ? 1 : split_k;
    part = REDUCTION == REDUCTION_NONE ? 0 : blockIdx.z % parts;
    batch = BATCH == 1 ? 0 : blockIdx.z / parts;
    int tiles_m = gridDim.y, tiles_n = gridDim.x, tile = m * tiles_n + n;
    if (REDUCTION == REDUCTION_TAIL) {
      tiles_m = (M + BM - 1) / BM, tiles_n = (N + BN - 1) / BN;
      const int whole = tiles_m * tiles_n - (gridDim.x - tiles_m * tiles_n) / (split_k - 1);
      const int beyond = (int)blockIdx.x - whole;
      parts = beyond < 0 ? 1 : split_k;
      part = beyond < 0 ? 0 : beyond % split_k;
      tile = beyond < 0 ? blockIdx.x : whole + beyond / split_k;
      m = tile / tiles_n, n = tile % tiles_n;
    }
    if (swizzle > 1) {  // blocks that run together make a band of so many rows
      const int band = tile / (swizzle * tiles_n), in_band = tile % (swizzle * tiles_n);
      const int rows = min(swizzle, tiles_m - band * swizzle);
      m = band * swizzle + in_band % rows;
      n = in_band / rows;
    }
  }
};

#if LOADER == LOADER_TMA
#define MAP_ARGUMENTS \
  , const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map
#define MAPS , &a_map, &b_map
#else
#define MAP_ARGUMENTS
#define MAPS
#endif

extern "C" __global__ void __launch_bounds__(kThreads, MIN_BLOCKS)
    gemm_fast(GEMM_ARGUMENTS, int split_k, int swizzle, const real* packed_a, const real* packed_b,
              real* partial, int* counters MAP_ARGUMENTS) {
  DYNAMIC_SHARED(real, shared);
#if STATIC_SIZES
  M = SIZE_M, N = SIZE_N, K = SIZE_K;
  lda = (A_IS_TRANSPOSED ? M : K) + PAD, ldb = (B_IS_TRANSPOSED ? K : N) + PAD;
  ldc = N + PAD, ldd = N;
#endif
  if (A_PACKED) A = packed_a, lda = (M + BM - 1) / BM * BM;
  if (B_PACKED) B = packed_b, ldb = (N + BN - 1) / BN * BN;
  const BlockPlace block(M, N, split_k, swizzle);
  const int m0 = block.m * BM, n0 = block.n * BN, batch = block.batch;
  const Slices slices(K, block.part, block.parts);
  ThreadPlace place(threadIdx.x);
  real sum[TM][TN] = {};
  multiply(sum, place, {A, B, lda, ldb, M, N, K, m0, n0, batch MAPS}, slices, shared);

  const Output output{D + ((long long)batch * M + m0) * ldd + n0,
                      C + (SCALE == SCALE_BETA ? ((long long)batch * M + m0) * ldc + n0 : 0),
                      alpha,
                      beta,
                      ldd,
                      ldc,
                      M - m0,
                      N - n0};
  finish(sum, place, output, shared, block.part, block.parts, partial, counters);
}
