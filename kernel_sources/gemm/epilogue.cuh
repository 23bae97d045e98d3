// SPDX-License-Identifier: Apache-2.0
// From the threads' sums to D. With one group of warps and no split over blocks, sums go straight
// from registers. Else the groups' sums meet in shared memory, and then those of the blocks
// (split_k.cuh).
#pragma once

#include "split_k.cuh"

/// `shared` holds kSliceGroups tiles. This thread needs the stages in it no longer.
template <class Config>
__device__ __forceinline__ void finish(const Sums<Config>& sum, const ThreadPlace<Config>& place,
                                       const Output<Config>& output, real* shared,
                                       const SplitPart& split) {
  if constexpr (Config::kReduction == Reduction::tail) {
    if (split.parts > 1) return add_tail<Config>(sum, place, output, shared, split);
  }
  if constexpr (!Config::kThroughShared) {
    store_sums<Config>(sum, place, output);
  } else {
    __syncthreads();
    for_each_group<Config>(sum, place, [&](int m, int n, const auto& group) {
      store_vector(shared + place.group * Config::kTile + tile_at<Config>(m, n, place.lane_m % 2),
                   group);
    });
    if constexpr (Config::kReduction == Reduction::cluster) {
      add_in_cluster<Config>(shared, output, split);
    } else if constexpr (Config::kReduction == Reduction::workspace) {
      add_in_workspace<Config>(shared, output, split);
    } else {
      constexpr int kStep = Config::kThreads * kWidest, kBN = Config::kBN;
      __syncthreads();
      for (int at = threadIdx.x * kWidest; at < Config::kTile; at += kStep)
        output.store(at / kBN, at % kBN, sum_of_groups<Config>(shared, at / kBN, at % kBN));
    }
  }
}
