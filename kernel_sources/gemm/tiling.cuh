// SPDX-License-Identifier: Apache-2.0
// How the fast kernel divides its work: constants that follow from its configuration (fast.cu). The
// other headers of the kernel take a Tiling as `Config`.
//
// Warps tile the block's kBM x kBN, lanes tile the warp's part (kLanesM of them along m), and a
// thread has kTM x kTN elements. With kSliceGroups > 1 that many groups of warps have the same tile
// and divide the depth of each slice among them.
#pragma once

/// How slices of A and B come into shared memory: cp.async, or the tensor memory accelerator.
/// direct: B goes from memory straight into registers.
enum class Loader { async, tma, direct };

/// How the sums of blocks that share a tile meet (epilogue.cuh, split_k.cuh).
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
