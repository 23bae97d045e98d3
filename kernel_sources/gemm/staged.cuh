// SPDX-License-Identifier: Apache-2.0
// The multiplication through shared memory: filling stages and multiplying from them take turns.
#pragma once

#include "loader.cuh"

/// Of a thread, in one stage: where its fragments begin, and which steps of its depth it does.
struct StagePlace {
  SharedAddress a, b;
  int from, to;

  __device__ __forceinline__ StagePlace(const real* stage, const ThreadPlace& place)
      : a(AFragment::place(stage, place.m, place.lane_m, place.slice * kDepth)),
        b(BFragment::place(stage + ASlice::kElements, place.n, place.lane_n, place.slice * kDepth)),
        from(0),
        to(kDepth) {}
};

__device__ __forceinline__ void multiply_slice(real (&sum)[TM][TN], const StagePlace& place,
                                               int stage) {
  const SharedAddress a_at = place.a + stage * kStage * sizeof(real);
  const SharedAddress b_at = place.b + stage * kStage * sizeof(real);
  AFragment a[2];  // the next step's are loaded before this one's are used
  BFragment b[2];
  a[0].load(a_at, place.from);
  b[0].load(b_at, place.from);
#pragma unroll 1
  for (int k0 = place.from; k0 < place.to; k0 += kUnroll) {
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      const int next = k + 1;
      if (next < kUnroll || k0 + next < place.to) {
        if (next % AFragment::kSteps == 0) a[next / AFragment::kSteps % 2].load(a_at, k0 + next);
        if (next % BFragment::kSteps == 0) b[next / BFragment::kSteps % 2].load(b_at, k0 + next);
      }
      multiply_step(sum, a[k / AFragment::kSteps % 2].value[k % AFragment::kSteps],
                    b[k / BFragment::kSteps % 2].value[k % BFragment::kSteps]);
    }
  }
}

#include "edge_help.cuh"

/// Adds the products of `slices` to `sum`.
__device__ __forceinline__ void multiply(real (&sum)[TM][TN], ThreadPlace& place,
                                         const Operands& operands, const Slices& slices,
                                         real* shared) {
  const EdgeHelp help(place, operands.M - operands.m0);
  StagePlace in_stage(shared, place);
  help.share_steps(in_stage);
  Loader loader(operands, shared);
  follow_kernel_ahead();
#if STAGES == 1
  for (int i = slices.first; i < slices.last; ++i) {
    if (i > slices.first) __syncthreads();
    loader.start<true>(0, slices, i);
    loader.finish(0);
    loader.wait<0>(0);
    __syncthreads();
    multiply_slice(sum, in_stage, 0);
  }
#else
#pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    const int i = slices.first + stage;
    if (i < slices.last) {
      if (stage == 0) {
        loader.start<true>(stage, slices, i);
      } else {
        loader.start<false>(stage, slices, i);
      }
      loader.finish(stage);
    }
    loader.close();
  }
  int reading = 0, filling = STAGES - 1;
  for (int i = slices.first; i < slices.last; ++i) {
    const int ahead = i + STAGES - 1;
    loader.wait<STAGES - 2>(reading);
    if (Loader::kNeedsBarrier || ahead < slices.last) __syncthreads();
    if (ahead < slices.last) loader.start<false>(filling, slices, ahead);
    loader.close();
    multiply_slice(sum, in_stage, reading);
    if (ahead < slices.last) loader.finish(filling);
    reading = reading == STAGES - 1 ? 0 : reading + 1;
    filling = filling == STAGES - 1 ? 0 : filling + 1;
  }
#endif
  help.add(sum, shared, place);
}
