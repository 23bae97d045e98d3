// SPDX-License-Identifier: Apache-2.0
// Which elements of the block's tile a thread has, its fragments of A and B, and its products.
//
// A thread's kTM rows lie in groups of up to four neighbours, kLanesM groups apart, so that the
// lanes of a warp read shared memory without gaps. Columns likewise.
#pragma once

#include "shared_slice.cuh"

template <class Config>
using Sums = real[Config::kTM][Config::kTN];

constexpr int widest_dividing(int count) {
  return count % kWidest == 0 ? kWidest : count % 2 == 0 ? 2 : 1;
}

/// kCount rows or columns of a thread, for one step of k, or for kWidest where the slice lies along
/// k. kLanes lanes of a warp lie along the outer extent.
template <class Slice, int kCount, int kLanes>
struct Fragment {
  static constexpr bool kAlongK = Slice::kAlongK;
  static constexpr int kGroup = kAlongK ? 1 : widest_dividing(kCount);
  static constexpr int kSteps = kAlongK ? kWidest : 1;

  real value[kSteps][kCount];

  /// The i-th row or column of a lane, counted from its warp's first.
  static __device__ __forceinline__ int outer(int lane, int i) {
    return i / kGroup * (kLanes * kGroup) + lane * kGroup + i % kGroup;
  }

  /// Where in `slice` the elements of `lane` begin; its warp begins at `first` and `k_first`.
  static __device__ __forceinline__ SharedAddress place(const real* slice, int first, int lane,
                                                        int k_first) {
    return kept(shared_address(slice + Slice::at({first + outer(lane, 0), k_first})));
  }

  /// Loads step `k` of those that begin at place().
  __device__ __forceinline__ void load(SharedAddress at, int k) {
#pragma unroll
    for (int i = 0; i < kCount; i += kGroup) {
      const real* from = Slice::beyond(at, {outer(0, i), k});
      if (kAlongK) {
        const auto steps = load_vector<kWidest>(from);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) value[step][i] = steps.value[step];
      } else {
        const auto group = load_vector<kGroup>(from);
#pragma unroll
        for (int j = 0; j < kGroup; ++j) value[0][i + j] = group.value[j];
      }
    }
  }
};

template <class Config>
using AFragment = Fragment<ASlice<Config>, Config::kTM, Config::kLanesM>;
template <class Config>
using BFragment = Fragment<BSlice<Config>, Config::kTN, Config::kLanesN>;

/// The thread's place in its block: group of warps, first row and column of its warp, lane along
/// each. Lane bit 0 counts along n, bit 1 along m, the others along n while there are any: a warp's
/// 16-byte reads then need the fewest passes.
template <class Config>
struct ThreadPlace {
  int group, m, n, lane_m, lane_n;

  __device__ __forceinline__ explicit ThreadPlace(int thread) {
    constexpr int kWarps = Config::kWarpsM * Config::kWarpsN;
    constexpr int kLanesM = Config::kLanesM, kLanesN = Config::kLanesN;
    const int lane = thread % 32, warp = thread / 32;
    // Not the constant 0 for one group: with it the compiler forms 180 addresses in the loop.
    group = warp / kWarps;
    m = warp % kWarps / Config::kWarpsN * Config::kWarpTileM;
    n = warp % Config::kWarpsN * Config::kWarpTileN;
    if (kLanesM == 1 || kLanesM == 32) {
      lane_m = kLanesM == 1 ? 0 : lane;
      lane_n = kLanesM == 1 ? lane : 0;
    } else {
      lane_m = lane / 2 % 2 + lane / (2 * kLanesN) * 2;
      lane_n = lane % 2 + lane / 4 % (kLanesN / 2) * 2;
    }
  }
};

/// sum += a times b, odd rows backwards: each product then shares an operand with the one before.
template <int kTM, int kTN>
__device__ __forceinline__ void multiply_step(real (&sum)[kTM][kTN], const real (&a)[kTM],
                                              const real (&b)[kTN]) {
#pragma unroll
  for (int i = 0; i < kTM; ++i) {
#pragma unroll
    for (int step = 0; step < kTN; ++step) {
      const int j = i % 2 == 1 ? kTN - 1 - step : step;
      sum[i][j] += a[i] * b[j];
    }
  }
}
