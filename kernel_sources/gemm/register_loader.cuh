// SPDX-License-Identifier: Apache-2.0
// Slices come into the pipeline stages through registers: loads before a multiplication, stores
// after it. For GPUs without cp.async. async_loader.cuh says what a loader has.
#pragma once

#include "thread_chunks.cuh"

/// The chunks of one operand's slice that a thread has in registers.
template <class Operand>
struct LoadedChunks {
  using Chunks = ThreadChunks<Operand>;
  static_assert(!SharedSlice<Operand>::kTransposes, "only single elements can be transposed");
  Vector<Chunks::kWidth> chunks[Chunks::kRounds];

  template <bool kFirst>
  __device__ __forceinline__ void load(const GlobalOperand<Operand>& from, int k, int depth) {
    const real* const slice = from.slice(k);
#pragma unroll
    for (int round = 0; round < Chunks::kRounds; ++round) {
      const SlicePlace p = Chunks::place(threadIdx.x, round);
      chunks[round] = {};
      if (!Chunks::has(threadIdx.x, round)) break;
      if (Chunks::template inside<kFirst>(p, from.outer_left, depth))
        chunks[round] = load_vector<Chunks::kWidth>(slice + from.offset(p));
    }
  }

  __device__ __forceinline__ void store(real* to) const {
#pragma unroll
    for (int round = 0; round < Chunks::kRounds; ++round) {
      if (!Chunks::has(threadIdx.x, round)) break;
      store_vector(to + SharedSlice<Operand>::at(Chunks::place(threadIdx.x, round)), chunks[round]);
    }
  }
};

template <class Config>
struct RegisterLoader {
  static constexpr bool kNeedsBarrier = true;

  GlobalOperand<AOperand<Config>> a;
  GlobalOperand<BOperand<Config>> b;
  real* stages;
  LoadedChunks<AOperand<Config>> a_chunks;
  LoadedChunks<BOperand<Config>> b_chunks;

  __device__ __forceinline__ RegisterLoader(const Operands& o, real* shared)
      : a(global_a<Config>(o)), b(global_b<Config>(o)), stages(shared) {}

  template <bool kFirst>
  __device__ __forceinline__ void start(int, const Slices<Config>& slices, int i) {
    a_chunks.template load<kFirst>(a, slices.begin(i), slices.depth(i));
    b_chunks.template load<kFirst>(b, slices.begin(i), slices.depth(i));
  }
  __device__ __forceinline__ void finish(int stage) {
    real* const to = stages + stage * kStageElements<Config>;
    a_chunks.store(to);
    b_chunks.store(to + ASlice<Config>::kElements);
  }
  __device__ __forceinline__ void commit() {}
  template <int kLeft>
  __device__ __forceinline__ void wait(int) {}
};
