// SPDX-License-Identifier: Apache-2.0
// Slices in global memory, and the chunks of them that a thread carries into shared memory.
#pragma once

#include "block_tile.cuh"
#include "shared_slice.cuh"

/// One operand from the block's first row or column on, at k = 0.
template <class Operand>
struct GlobalOperand {
  const real* first;
  int ld, outer_left;  // length of a memory row; rows or columns from `first` on

  /// `all` holds batches of `outer` x K elements, of which `outer0` is the block's first.
  __device__ __forceinline__ GlobalOperand(const real* all, int ld, int batch, int outer, int K,
                                           int outer0)
      : ld(ld), outer_left(outer - outer0) {
    first = all + (long long)batch * (Operand::kGlobalAlongK ? outer : K) * ld +
            (Operand::kGlobalAlongK ? (long long)outer0 * ld : outer0);
  }

  /// In elements from the first of the same slice.
  __device__ __forceinline__ long long offset(SlicePlace p) const {
    return Operand::kGlobalAlongK ? (long long)p.outer * ld + p.k : (long long)p.k * ld + p.outer;
  }
  __device__ __forceinline__ const real* slice(int k) const {
    return first + (Operand::kGlobalAlongK ? k : (long long)k * ld);
  }
};

template <class Config>
__device__ __forceinline__ GlobalOperand<AOperand<Config>> global_a(const Operands& o) {
  return {o.A, o.lda, o.batch, o.M, o.K, o.m0};
}

template <class Config>
__device__ __forceinline__ GlobalOperand<BOperand<Config>> global_b(const Operands& o) {
  return {o.B, o.ldb, o.batch, o.N, o.K, o.n0};
}

/// A slice in chunks of kWidth neighbours in global memory, kRounds of them a thread.
template <class Operand>
struct ThreadChunks {
  using Shared = SharedSlice<Operand>;
  static constexpr int kThreads = Operand::kThreads;
  // A copy that transposes scatters single elements.
  static constexpr int kWidth = Shared::kTransposes ? 1 : Operand::kWidth;
  static constexpr int kChunks = Operand::kOuter * Operand::kDepth / kWidth;
  static constexpr int kRounds = (kChunks + kThreads - 1) / kThreads;

  /// Whether the thread has a chunk in this round.
  static __device__ __forceinline__ bool has(int thread, int round) {
    return kChunks % kThreads == 0 || thread + round * kThreads < kChunks;
  }

  /// Where it begins. Neighbouring threads have neighbouring chunks of global memory.
  static __device__ __forceinline__ SlicePlace place(int thread, int round) {
    constexpr int kAcross = (Operand::kGlobalAlongK ? Operand::kDepth : Operand::kOuter) / kWidth;
    const int chunk = thread + round * kThreads;
    const bool steady = kThreads % kAcross == 0;  // every round at the same place along a row
    const int along = (steady ? thread : chunk) % kAcross * kWidth;
    const int across = steady ? thread / kAcross + round * (kThreads / kAcross) : chunk / kAcross;
    return Operand::kGlobalAlongK ? SlicePlace{across, along} : SlicePlace{along, across};
  }

  /// The predicate of a chunk. Only the first slice may be shallow: it has `depth` steps of k.
  template <bool kFirst>
  static __device__ __forceinline__ bool inside(SlicePlace p, int outer_left, int depth) {
    return (!Operand::kOuterEdge || p.outer < outer_left) &&
           (!(Operand::kDepthEdge && kFirst) || p.k < depth);
  }
};
