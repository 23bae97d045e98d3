// SPDX-License-Identifier: Apache-2.0
// The fast family: slices of A and B stream through a pipeline of kStages stages in shared memory
// while warps multiply from registers. Groups of warps of a block, and blocks of a cluster or grid,
// may share the sum over k.
// Grid (N/kBN, M/kBM, kBatch * split_k) rounded up; for Reduction::tail (whole tiles + split_k *
// split tiles). Block Tiling::kThreads; cluster (1, 1, split_k) for Reduction::cluster. Dynamic
// shared memory: gemm's manifest. Any M, N, K: kEdgeM, kEdgeN and kEdgeK say which is no multiple
// of kBM, kBN or kBK.
#pragma once

#include "block_tile.cuh"
#include "direct.cuh"
#include "epilogue.cuh"
#include "staged.cuh"

/// What a launch chooses: blocks that share a tile, rows of tiles in a band of the rasterization
/// order, packed operands, workspace, tensor maps.
struct FastLaunch {
  int split_k, raster_rows;
  const real *packed_a, *packed_b;
  real* partial;
  int* counters;
  const TensorMap *a_map, *b_map;  // Loader::tma only
};

/// Sizes that the compiler knows, and packed operands in place of A and B.
template <class Config>
__device__ __forceinline__ Problem effective(Problem p, const FastLaunch& launch) {
  if constexpr (Config::kStaticSizes) {
    p.M = Config::kM, p.N = Config::kN, p.K = Config::kK;
    p.lda = (Config::kATransposed ? p.M : p.K) + Config::kRowPad;
    p.ldb = (Config::kBTransposed ? p.K : p.N) + Config::kRowPad;
    p.ldc = has_bias(Config::kEpilogue) ? 0 : p.N + Config::kRowPad, p.ldd = p.N;
  }
  if (Config::kAPacked)
    p.A = launch.packed_a, p.lda = (p.M + Config::kBM - 1) / Config::kBM * Config::kBM;
  if (Config::kBPacked)
    p.B = launch.packed_b, p.ldb = (p.N + Config::kBN - 1) / Config::kBN * Config::kBN;
  return p;
}

template <class Config>
__device__ __forceinline__ void multiply_fast(const Problem& given, const FastLaunch& launch,
                                              real* shared) {
  const Problem p = effective<Config>(given, launch);
  const BlockTile<Config> block(p.M, p.N, launch.split_k, launch.raster_rows);
  const int m0 = block.m * Config::kBM, n0 = block.n * Config::kBN;
  const Slices<Config> slices(p.K, block.part, block.parts);
  const Operands operands{p.A, p.B, p.lda, p.ldb,       p.M,          p.N,
                          p.K, m0,  n0,    block.batch, launch.a_map, launch.b_map};
  ThreadPlace<Config> place(threadIdx.x);
  real sum[Config::kTM][Config::kTN] = {};
  if constexpr (Config::kLoader == Loader::direct) {
    multiply_direct<Config>(sum, place, operands, slices);
  } else {
    multiply_staged<Config>(sum, place, operands, slices, shared);
  }
  const long long row = (long long)block.batch * p.M + m0;
  const Output<Config> output{p.D + row * p.ldd + n0,
                              p.C + (kReadsC<Config> ? row * p.ldc + n0 : 0),
                              p.alpha,
                              p.beta,
                              p.ldd,
                              p.ldc,
                              p.M - m0,
                              p.N - n0};
  finish<Config>(sum, place, output, shared,
                 {block.part, block.parts, launch.partial, launch.counters});
}
