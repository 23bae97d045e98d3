// SPDX-License-Identifier: Apache-2.0
// The configuration of the kernel that is compiled, a struct of constants. Only this header,
// gemm.cu and batched.cuh read the macros of gemm's manifest; device/element.cuh reads DTYPE. Kernels
// take the struct as a template argument.
#pragma once

#include "problem.cuh"
#include "tiled.cuh"
#include "tiling.cuh"

struct ProblemConfiguration {
  // LAYOUT's first letter says how A lies in memory (N: M x K, T: K x M), its second how B does
  // (N: K x N, T: N x K).
  static constexpr bool kATransposed = LAYOUT == LAYOUT_TN || LAYOUT == LAYOUT_TT;
  static constexpr bool kBTransposed = LAYOUT == LAYOUT_NT || LAYOUT == LAYOUT_TT;
  static constexpr Scale kScale = (Scale)SCALE;
  static constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;
  static constexpr bool kStrided = BATCHED && STRIDED;  // products at any distance
  static constexpr int kBatch = BATCHED && !STRIDED ? 2 : 1;  // 2: any number, one behind another
};

#if KERNEL == KERNEL_NAIVE

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE, kTileSize = TILE_SIZE;
};

#elif KERNEL == KERNEL_SINGLE_BLOCK

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE;
};

#elif KERNEL == KERNEL_TILED

struct Configuration : ProblemConfiguration {
  static constexpr int kBlockSize = BLOCK_SIZE, kTileSize = TILE_SIZE;
  static constexpr Prefetch kPrefetch = PREFETCH == PREFETCH_SHARED     ? Prefetch::shared
                                        : PREFETCH == PREFETCH_REGISTER ? Prefetch::registers
                                                                        : Prefetch::none;
  static constexpr ALayout kALayout = A_LAYOUT == A_LAYOUT_TRANSPOSED ? ALayout::transposed
                                      : A_LAYOUT == A_LAYOUT_PADDED   ? ALayout::padded
                                                                      : ALayout::plain;
};

#elif KERNEL == KERNEL_MICRO

struct Configuration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN, kThreads = THREADS;
};

#elif KERNEL == KERNEL_FAST

struct FastConfiguration : ProblemConfiguration {
  static constexpr int kBM = BM, kBN = BN, kBK = BK, kTM = TM, kTN = TN;
  static constexpr int kLanesM = WARP_M;         // lanes of a warp along m
  static constexpr int kSliceGroups = K_SLICES;  // groups of warps that divide a slice's depth
  static constexpr int kStages = STAGES;
  static constexpr int kUnrollK = UNROLL_K;      // steps of k in one piece of code
  static constexpr int kMinBlocks = MIN_BLOCKS;  // a multiprocessor; bounds registers
  static constexpr Loader kLoader = LOADER == LOADER_TMA        ? Loader::tma
                                    : LOADER == LOADER_DIRECT   ? Loader::direct
                                    : LOADER == LOADER_REGISTER ? Loader::registers
                                                                : Loader::async;
  static constexpr Reduction kReduction = REDUCTION == REDUCTION_CLUSTER     ? Reduction::cluster
                                          : REDUCTION == REDUCTION_WORKSPACE ? Reduction::workspace
                                          : REDUCTION == REDUCTION_TAIL      ? Reduction::tail
                                                                             : Reduction::none;

  // Operands that a first kernel packs; those that lie along k where the fast kernel finds them,
  // and those of them whose fragments lie along k too.
  static constexpr bool kAPacked = A_PACKED, kBPacked = B_PACKED;
  static constexpr bool kAAlongK = A_ALONG_K, kBAlongK = B_ALONG_K;
  static constexpr bool kAFragmentAlongK = A_FRAGMENT_ALONG_K;
  static constexpr bool kBFragmentAlongK = B_FRAGMENT_ALONG_K;
  // Widths of accesses to A, B and D in elements, by the alignment of rows.
  static constexpr int kVectorA = VECTOR_A, kVectorB = VECTOR_B, kVectorD = VECTOR_D;
  // Whether M, N, K are no multiples of kBM, kBN, kBK; whether warps without rows help
  // (edge_help.cuh).
  static constexpr bool kEdgeM = EDGE_M, kEdgeN = EDGE_N, kEdgeK = EDGE_K;
  static constexpr bool kEdgeHelp = EDGE_HELP;

#if STATIC_SIZES && !STRIDED  // else they come as constants, in place of arguments
  static constexpr bool kStaticSizes = true;
  static constexpr int kM = SIZE_M, kN = SIZE_N, kK = SIZE_K;
  static constexpr int kRowPad = PAD;  // elements between the end of a row and the next
#else
  static constexpr bool kStaticSizes = false;
#endif
};
using Configuration = Tiling<FastConfiguration>;

#endif
