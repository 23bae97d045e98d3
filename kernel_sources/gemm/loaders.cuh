// SPDX-License-Identifier: Apache-2.0
// How slices of A and B come into the pipeline stages, while warps multiply from others. Loaders have
//   start(stage, slices, i)  begins to fill a stage with slice i, before a multiplication
//   commit()                 once a start(), also where no slice is left
//   wait<kLeft>(stage)       until that stage is filled, with kLeft later ones in flight. With
//                            kNeedsBarrier only the thread's own part is waited for.
#pragma once

#include "block_tile.cuh"
#include "device/async_copy.cuh"
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

/// By cp.async; below compute capability 8.0 by loads and stores.
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

/// By the tensor memory accelerator: one thread starts the copies, and each stage has a barrier
/// that counts their bytes.
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
