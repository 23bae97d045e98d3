// SPDX-License-Identifier: Apache-2.0
// Slices come into the pipeline stages by the tensor memory accelerator: one thread starts the
// copies, and each stage has a barrier that counts their bytes. async_loader.cuh says what a loader
// has.
#pragma once

#include "block_tile.cuh"
#include "device/tensor_copy.cuh"
#include "shared_slice.cuh"

template <class Config>
struct TmaLoader {
  static constexpr bool kNeedsBarrier = false;
  // Barriers lie behind the stages, and behind the tiles that the epilogue makes of them.
  static constexpr int kStagesEnd = Config::kStages * kStageElements<Config>;
  static constexpr int kTilesEnd =
      Config::kThroughShared ? Config::kSliceGroups * Config::kTile : 0;
  static constexpr int kBarriersAt = kStagesEnd > kTilesEnd ? kStagesEnd : kTilesEnd;
  static constexpr int kStageBytes = (Config::kBM + Config::kBN) * Config::kBK * sizeof(real);

  const TensorMap &a_map, &b_map;
  int m0, n0;
  real* stages;
  SharedAddress barriers;
  int parity = 0;
  const bool first_warp;

  __device__ __forceinline__ TmaLoader(const Operands& o, real* shared)
      : a_map(*o.a_map),
        b_map(*o.b_map),
        m0(o.m0),
        n0(o.n0),
        stages(shared),
        first_warp(__shfl_sync(~0u, threadIdx.x / 32, 0) == 0) {
    barriers = shared_address(shared + kBarriersAt);
    if (threadIdx.x == 0) {
      prefetch(a_map);
      prefetch(b_map);
      for (int stage = 0; stage < Config::kStages; ++stage) init(barrier(stage));
      publish_barriers();
    }
    __syncthreads();
  }

  template <bool kFirst>
  __device__ __forceinline__ void start(int stage, const Slices<Config>& slices, int i) {
    if (!first_warp || !elect_one()) return;
    const int k = slices.begin(i);
    real* const to = stages + stage * kStageElements<Config>;
    expect(barrier(stage), kStageBytes);
    copy<ASlice<Config>>(to, a_map, m0, k, barrier(stage));
    copy<BSlice<Config>>(to + ASlice<Config>::kElements, b_map, n0, k, barrier(stage));
  }
  __device__ __forceinline__ void commit() {}

  /// Stages are waited for in turn.
  template <int kLeft>
  __device__ __forceinline__ void wait(int stage) {
    wait_for(barrier(stage), parity);
    if (stage == Config::kStages - 1) parity ^= 1;
  }

 private:
  __device__ __forceinline__ SharedAddress barrier(int stage) const {
    return barriers + stage * sizeof(CopyBarrier);
  }

  template <class Slice>
  static __device__ __forceinline__ void copy(real* to, const TensorMap& map, int outer, int k,
                                              SharedAddress barrier) {
    if (!Slice::kAlongK) {
      copy_box(shared_address(to), map, outer, k, barrier);
    } else {
#pragma unroll
      for (int panel = 0; panel < Slice::kDepth; panel += Slice::kPanel)
        copy_box(shared_address(to + panel * Slice::kOuter), map, k + panel, outer, barrier);
    }
  }
};
