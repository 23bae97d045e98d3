// SPDX-License-Identifier: Apache-2.0
// Which elements of the block's tile a thread owns, and its multiplication of one slice.
//
// Warps tile the block's BM x BN, lanes tile the warp's (WARP_M of them along m), and a thread's TM
// rows lie in groups of up to four neighbours, WARP_M groups apart, so that the lanes of a warp
// read shared memory without gaps; columns likewise. With K_SLICES > 1 as many groups of warps have
// the same tile and share the depth of each slice.
#pragma once

#include "operand_slice.cuh"

constexpr int kWarpN = 32 / WARP_M;
constexpr int kWarpTileM = WARP_M * TM, kWarpTileN = kWarpN * TN;
constexpr int kWarpsM = BM / kWarpTileM, kWarpsN = BN / kWarpTileN;
constexpr int kThreads = 32 * kWarpsM * kWarpsN * K_SLICES;
constexpr int kDepth = BK / K_SLICES;  // of a slice, for one group of warps

constexpr int widest_dividing(int count) {
  return count % kWidest == 0 ? kWidest : count % 2 == 0 ? 2 : 1;
}

/// COUNT rows or columns of a thread, for one step of k, or for kWidest where SLICE lies along k.
template <class SLICE, bool ALONG_K, int COUNT, int LANES>
struct Fragment {
  static constexpr int kGroup = ALONG_K ? 1 : widest_dividing(COUNT);
  static constexpr int kSteps = ALONG_K ? kWidest : 1;

  real value[kSteps][COUNT];

  /// The thread's i-th row or column, counted from its warp's first.
  static __device__ __forceinline__ int outer(int lane, int i) {
    return i / kGroup * (LANES * kGroup) + lane * kGroup + i % kGroup;
  }

  /// Where in `slice` the elements of `lane` begin, `first` and `k_first` being its warp's.
  static __device__ __forceinline__ SharedAddress place(const real* slice, int first, int lane,
                                                        int k_first) {
    return kept(shared_address(slice + SLICE::at({first + outer(lane, 0), k_first})));
  }

  /// Step `k` of those that begin at place().
  __device__ __forceinline__ void load(SharedAddress at, int k) {
#pragma unroll
    for (int i = 0; i < COUNT; i += kGroup) {
      const real* from = SLICE::beyond(at, {outer(0, i), k});
      if (ALONG_K) {
        const Vector<kWidest> steps = *reinterpret_cast<const Vector<kWidest>*>(from);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) value[step][i] = steps.value[step];
      } else {
        const Vector<kGroup> group = *reinterpret_cast<const Vector<kGroup>*>(from);
#pragma unroll
        for (int j = 0; j < kGroup; ++j) value[0][i + j] = group.value[j];
      }
    }
  }
};

/// The thread's place in its block. Lane bit 0 counts along n, bit 1 along m, the others along n
/// while there are any: a warp's 16-byte reads then need the fewest passes.
struct ThreadPlace {
  int slice, m, n, lane_m, lane_n;

  __device__ __forceinline__ explicit ThreadPlace(int thread) {
    const int lane = thread % 32, warp = thread / 32;
    // Also where it is always 0: known to be so, the compiler forms 180 addresses in the loop.
    slice = warp / (kWarpsM * kWarpsN);
    m = warp % (kWarpsM * kWarpsN) / kWarpsN * kWarpTileM;
    n = warp % kWarpsN * kWarpTileN;
    if (WARP_M == 1 || WARP_M == 32) {
      lane_m = WARP_M == 1 ? 0 : lane;
      lane_n = WARP_M == 1 ? lane : 0;
    } else {
      lane_m = lane / 2 % 2 + lane / (2 * kWarpN) * 2;
      lane_n = lane % 2 + lane / 4 % (kWarpN / 2) * 2;
    }
  }
};

__device__ __forceinline__ void multiply_step(real (&sum)[TM][TN], const real (&a)[TM],
                                              const real (&b)[TN]) {
  if (FMA_ORDER == FMA_ORDER_COLUMN) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
#pragma unroll
      for (int i = 0; i < TM; ++i) sum[i][j] += a[i] * b[j];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int step = 0; step < TN; ++step) {
      const int j = FMA_ORDER == FMA_ORDER_SNAKE && i % 2 == 1 ? TN - 1 - step : step;
      sum[i][j] += a[i] * b[j];
    }
  }
}
