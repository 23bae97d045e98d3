// SPDX-License-Identifier: Apache-2.0
// How the fast kernel divides its work: constants that follow from its configuration (fast.cu), a
// block's tile of D, and its part of the sum over k. Other headers of the kernel take a Tiling as
// `Config`.
//
// Warps tile the block's kBM x kBN, lanes tile the warp's part (kLanesM of them along m), and a
// thread has kTM x kTN elements. With kSliceGroups > 1 that many groups of warps have the same tile
// and divide the depth of each slice among them.
#pragma once

#include "device/tensor_copy.cuh"
#include "problem.cuh"

/// How slices of A and B come into shared memory: cp.async, or the tensor memory accelerator.
/// direct: B goes from memory straight into registers.
enum class Loader { async, tma, direct };

/// How the sums of blocks that share a tile meet (epilogue.cuh).
enum class Reduction { none, cluster, workspace, tail };

template <class Configuration>
struct Tiling : Configuration {
  using C = Configuration;
  static constexpr int kLanesN = 32 / C::kLanesM;
  static constexpr int kWarpTileM = C::kLanesM * C::kTM, kWarpTileN = kLanesN * C::kTN;
  static constexpr int kWarpsM = C::kBM / kWarpTileM, kWarpsN = C::kBN / kWarpTileN;
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN * C::kSliceGroups;
  static constexpr int kTile = C::kBM * C::kBN;
  static constexpr int kDepth = C::kBK / C::kSliceGroups;  // of a slice, for one group of warps
  // Steps of k in one piece of code. An even number of fragments, so that loads alternate.
  static constexpr int kUnroll = C::kUnrollK < kDepth ? C::kUnrollK : kDepth;
  // Whether sums pass through shared memory on their way to D.
  static constexpr bool kThroughShared = C::kSliceGroups > 1 || (C::kReduction != Reduction::none &&
                                                                 C::kReduction != Reduction::tail);
};

/// A block's tile, counted in tiles, and its part of the sum over k: `part` of `parts`.
template <class Config>
struct BlockTile {
  int m, n, part, parts, batch;

  /// Blocks that run together make a band of `raster_rows` rows of tiles, for the L2 cache.
  __device__ __forceinline__ BlockTile(int M, int N, int split_k, int raster_rows) {
    constexpr bool kSplit = Config::kReduction != Reduction::none;
    m = blockIdx.y, n = blockIdx.x;
    parts = kSplit ? split_k : 1;
    part = kSplit ? blockIdx.z % parts : 0;
    batch = Config::kBatch == 1 ? 0 : blockIdx.z / parts;
    int tiles_m = gridDim.y, tiles_n = gridDim.x, tile = m * tiles_n + n;
    if (Config::kReduction == Reduction::tail) {
      tiles_m = (M + Config::kBM - 1) / Config::kBM, tiles_n = (N + Config::kBN - 1) / Config::kBN;
      const int whole = tiles_m * tiles_n - (gridDim.x - tiles_m * tiles_n) / (split_k - 1);
      const int beyond = (int)blockIdx.x - whole;
      parts = beyond < 0 ? 1 : split_k;
      part = beyond < 0 ? 0 : beyond % split_k;
      tile = beyond < 0 ? blockIdx.x : whole + beyond / split_k;
      m = tile / tiles_n, n = tile % tiles_n;
    }
    if (raster_rows > 1) {
      const int band = tile / (raster_rows * tiles_n), in_band = tile % (raster_rows * tiles_n);
      const int rows = min(raster_rows, tiles_m - band * raster_rows);
      m = band * raster_rows + in_band % rows;
      n = in_band / rows;
    }
  }
};

/// The slices of a block's part of the sum over k: first..last-1 of all. Where K is no multiple of
/// kBK, slice 0 is the shallow one, so that later ones need no predicates along k. The tensor
/// memory accelerator writes zeros past the end instead.
template <class Config>
struct Slices {
  int first, last, skew;

  __device__ __forceinline__ Slices(int K, int part, int parts) {
    const int count = (K + Config::kBK - 1) / Config::kBK;
    first = count * part / parts;
    last = count * (part + 1) / parts;
    skew = Config::kEdgeK && Config::kLoader != Loader::tma ? count * Config::kBK - K : 0;
  }
  __device__ __forceinline__ int begin(int i) const { return i == 0 ? 0 : i * Config::kBK - skew; }
  __device__ __forceinline__ int depth(int i) const {
    return i == 0 ? Config::kBK - skew : Config::kBK;
  }
};

/// A and B as they lie in global memory, and the first row m0 and column n0 of the block's tile.
struct Operands {
  const real *A, *B;
  int lda, ldb, M, N, K, m0, n0, batch;
  const TensorMap *a_map, *b_map;  // Loader::tma only
};
