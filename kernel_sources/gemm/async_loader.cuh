// SPDX-License-Identifier: Apache-2.0
// Slices come into the pipeline stages by cp.async, in the background of the multiplication; below
// compute capability 8.0 by loads and stores. All loaders have these functions:
//   start(stage, slices, i)  begins to fill a stage with slice i, before a multiplication
//   commit()                 once a start(), also where no slice is left
//   wait<kLeft>(stage)       until that stage is filled, with kLeft later ones in flight. With
//                            kNeedsBarrier only the thread's own part is waited for.
#pragma once

#include "device/async_copy.cuh"
#include "thread_chunks.cuh"

template <class Config>
struct AsyncLoader {
  static constexpr bool kNeedsBarrier = true;

  GlobalOperand<AOperand<Config>> a;
  GlobalOperand<BOperand<Config>> b;
  real* stages;

  __device__ __forceinline__ AsyncLoader(const Operands& o, real* shared)
      : a(global_a<Config>(o)), b(global_b<Config>(o)), stages(shared) {}

  template <bool kFirst>
  __device__ __forceinline__ void start(int stage, const Slices<Config>& slices, int i) {
    const int k = slices.begin(i), depth = slices.depth(i);
    real* const to = stages + stage * kStageElements<Config>;
    copy<kFirst>(to, a, k, depth);
    copy<kFirst>(to + ASlice<Config>::kElements, b, k, depth);
  }
  __device__ __forceinline__ void commit() { commit_copies(); }

  template <int kLeft>
  __device__ __forceinline__ void wait(int) {
    if (Config::kStages == 1) commit_copies();
    wait_copies<kLeft>();
  }

 private:
  template <bool kFirst, class Operand>
  static __device__ __forceinline__ void copy(real* to, const GlobalOperand<Operand>& from, int k,
                                              int depth) {
    using Chunks = ThreadChunks<Operand>;
    const real* const slice = from.slice(k);
#pragma unroll
    for (int round = 0; round < Chunks::kRounds; ++round) {
      const SlicePlace p = Chunks::place(threadIdx.x, round);
      if (!Chunks::has(threadIdx.x, round)) break;
      const bool predicate = Chunks::template inside<kFirst>(p, from.outer_left, depth);
      copy_async<Chunks::kWidth * sizeof(real)>(
          to + SharedSlice<Operand>::at(p), slice + (predicate ? from.offset(p) : 0), predicate);
    }
  }
};
