// SPDX-License-Identifier: Apache-2.0
// The multiplication through shared memory: a pipeline of kStages stages. Loaders fill stages with
// slices of A and B while warps multiply from others.
#pragma once

#include "device/choose.cuh"
#include "device/early_start.cuh"
#include "loaders.cuh"
#include "thread_tile.cuh"

/// kEdgeHelp: where no more than the upper half of a last row of tiles exists, the warps of the
/// lower half have no rows. They do the second half of each slice for the warps of the upper half,
/// which add the sums up at the end. If kEdgeHelp is false, these functions compile to nothing.
template <class Config>
struct EdgeHelp {
  static constexpr int kHalf = Config::kBM / 2;
  bool half_exists, helps;  // only the upper half of the tile; this thread is a helper

  /// `m_left` rows exist from the tile's first on.
  __device__ __forceinline__ EdgeHelp(ThreadPlace<Config>& place, int m_left)
      : half_exists(Config::kEdgeHelp && m_left <= kHalf), helps(half_exists && place.m >= kHalf) {
    if (helps) place.m -= kHalf;
  }

  /// Narrows the steps from..to of a slice to those of this thread.
  __device__ __forceinline__ void share_steps(int& from, int& to) const {
    if (helps) {
      from = Config::kDepth / 2;
    } else if (half_exists) {
      to = Config::kDepth / 2;
    }
  }

  /// Adds the helpers' sums up. Helpers then stand below the last row.
  __device__ __forceinline__ void add(Sums<Config>& sum, real* shared,
                                      ThreadPlace<Config>& place) const {
    if (!half_exists) return;
    constexpr int kCount = Config::kTM * Config::kTN, kTN = Config::kTN;
    constexpr int kHelpers = Config::kThreads / 2;
    real* const given = shared + threadIdx.x % kHelpers;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (helps) given[i * kHelpers] = sum[i / kTN][i % kTN];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!helps) sum[i / kTN][i % kTN] += given[i * kHelpers];
    }
    if (helps) place.m += kHalf;
  }
};

/// Of a thread, in stage 0: where its fragments begin, and which steps of k it does.
template <class Config>
struct StagePlace {
  SharedAddress a, b;
  int from = 0, to = Config::kDepth;

  __device__ __forceinline__ StagePlace(const real* stage, const ThreadPlace<Config>& place) {
    const int k = place.group * Config::kDepth;
    a = AFragment<Config>::place(stage, place.m, place.lane_m, k);
    b = BFragment<Config>::place(stage + ASlice<Config>::kElements, place.n, place.lane_n, k);
  }
};

template <class Config>
__device__ __forceinline__ void multiply_slice(Sums<Config>& sum, const StagePlace<Config>& place,
                                               int stage) {
  using A = AFragment<Config>;
  using B = BFragment<Config>;
  constexpr int kUnroll = Config::kUnroll;
  const SharedAddress a_at = place.a + stage * kStageElements<Config> * sizeof(real);
  const SharedAddress b_at = place.b + stage * kStageElements<Config> * sizeof(real);
  A a[2];  // the next step's are loaded before this one's are used
  B b[2];
  a[0].load(a_at, place.from);
  b[0].load(b_at, place.from);
#pragma unroll 1
  for (int k0 = place.from; k0 < place.to; k0 += kUnroll) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const int next = k + 1;
      if (next < kUnroll || k0 + next < place.to) {
        if (next % A::kSteps == 0) a[next / A::kSteps % 2].load(a_at, k0 + next);
        if (next % B::kSteps == 0) b[next / B::kSteps % 2].load(b_at, k0 + next);
      }
      multiply_step(sum, a[k / A::kSteps % 2].value[k % A::kSteps],
                    b[k / B::kSteps % 2].value[k % B::kSteps]);
    }
  }
}

/// One stage: load, barrier, multiply, barrier.
template <class Config, class StageLoader>
__device__ __forceinline__ void multiply_in_turn(Sums<Config>& sum, const StagePlace<Config>& place,
                                                 StageLoader& loader,
                                                 const Slices<Config>& slices) {
  for (int i = slices.first; i < slices.last; ++i) {
    if (i > slices.first) __syncthreads();
    loader.template start<true>(0, slices, i);
    loader.template wait<0>(0);
    __syncthreads();
    multiply_slice<Config>(sum, place, 0);
  }
}

/// Two stages or more: kStages - 1 slices are in flight.
template <class Config, class StageLoader>
__device__ __forceinline__ void multiply_pipelined(Sums<Config>& sum,
                                                   const StagePlace<Config>& place,
                                                   StageLoader& loader,
                                                   const Slices<Config>& slices) {
  constexpr int kStages = Config::kStages;
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) {
    const int i = slices.first + stage;
    if (i < slices.last) {
      if (stage == 0) {
        loader.template start<true>(stage, slices, i);
      } else {
        loader.template start<false>(stage, slices, i);
      }
    }
    loader.commit();
  }
  int reading = 0, filling = kStages - 1;
  for (int i = slices.first; i < slices.last; ++i) {
    const int ahead = i + kStages - 1;
    loader.template wait<kStages - 2>(reading);
    if (StageLoader::kNeedsBarrier || ahead < slices.last) __syncthreads();
    if (ahead < slices.last) loader.template start<false>(filling, slices, ahead);
    loader.commit();
    multiply_slice<Config>(sum, place, reading);
    reading = reading == kStages - 1 ? 0 : reading + 1;
    filling = filling == kStages - 1 ? 0 : filling + 1;
  }
}

/// Adds the products of `slices` to `sum`.
template <class Config>
__device__ __forceinline__ void multiply_staged(Sums<Config>& sum, ThreadPlace<Config>& place,
                                                const Operands& operands,
                                                const Slices<Config>& slices, real* shared) {
  const EdgeHelp<Config> help(place, operands.M - operands.m0);
  StagePlace<Config> in_stage(shared, place);
  help.share_steps(in_stage.from, in_stage.to);
  using StageLoader = typename Choose<Config::kLoader == Loader::tma, TmaLoader<Config>,
                                      AsyncLoader<Config>>::Type;
  StageLoader loader(operands, shared);
  follow_kernel_ahead();
  if constexpr (Config::kStages == 1) {
    multiply_in_turn<Config>(sum, in_stage, loader, slices);
  } else {
    multiply_pipelined<Config>(sum, in_stage, loader, slices);
  }
  help.add(sum, shared, place);
}
