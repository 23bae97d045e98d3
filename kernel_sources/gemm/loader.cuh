// SPDX-License-Identifier: Apache-2.0
// Both operands' way into the stages. For stage `stage` and slice `i`: start() before a
// multiplication, finish() after it; close() once a start; wait() until that stage is filled, for
// this thread's part of it where a barrier is still needed.
#pragma once

#if LOADER == LOADER_TMA

// Behind the stages and behind the tiles that finish() makes of them.
constexpr int kTiles = kThroughShared ? K_SLICES * kTile : 0;
constexpr int kBarriersAt = STAGES * kStage > kTiles ? STAGES * kStage : kTiles;

struct Loader {
  static constexpr bool kNeedsBarrier = false;

  const TensorMap &a_map, &b_map;
  int m0, n0;
  real* stages;
  SharedAddress barriers;
  int parity = 0;
  const bool first_warp;

  __device__ __forceinline__ Loader(const Operands& o, real* shared)
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
      for (int stage = 0; stage < STAGES; ++stage) init(barrier(stage));
      publish_barriers();
    }
    __syncthreads();
  }

  __device__ __forceinline__ SharedAddress barrier(int stage) const {
    return barriers + stage * sizeof(CopyBarrier);
  }

  template <bool FIRST>
  __device__ __forceinline__ void start(int stage, const Slices& slices, int i) {
    if (!first_warp || !elect_one()) return;
    const int k = slices.begin(i);
    real* to = stages + stage * kStage;
    expect(barrier(stage), ASlice::kBytes + BSlice::kBytes);
    ASlice::copy_boxes(to, a_map, m0, k, barrier(stage));
    BSlice::copy_boxes(to + ASlice::kElements, b_map, n0, k, barrier(stage));
  }
  __device__ __forceinline__ void finish(int) {}
  __device__ __forceinline__ void close() {}

  /// Stages are waited for in turn.
  template <int LEFT>
  __device__ __forceinline__ void wait(int stage) {
    wait_for(barrier(stage), parity);
    if (stage == STAGES - 1) parity ^= 1;
  }
};

#else

struct Loader {
  static constexpr bool kNeedsBarrier = true;

  const real *A, *B;  // at the block's first row and column, k = 0
  int lda, ldb, m_left, n_left;
  real* stages;
  ASlice a;
  BSlice b;

  __device__ __forceinline__ Loader(const Operands& o, real* shared)
      : lda(o.lda), ldb(o.ldb), m_left(o.M - o.m0), n_left(o.N - o.n0), stages(shared) {
    A = o.A + (long long)o.batch * (A_ALONG_K ? o.M : o.K) * lda +
        (A_ALONG_K ? (long long)o.m0 * lda : o.m0);
    B = o.B + (long long)o.batch * (B_ALONG_K ? o.N : o.K) * ldb +
        (B_ALONG_K ? (long long)o.n0 * ldb : o.n0);
  }

  template <bool FIRST>
  __device__ __forceinline__ void start(int stage, const Slices& slices, int i) {
    const int thread = threadIdx.x, k = slices.begin(i), depth = slices.depth(i);
    const real* from_a = A + (A_ALONG_K ? k : (long long)k * lda);
    const real* from_b = B + (B_ALONG_K ? k : (long long)k * ldb);
    real* to = stages + stage * kStage;
    if (kARegisters) {
      a.template fetch<FIRST>(from_a, lda, thread, m_left, depth);
    } else {
      a.template copy<FIRST>(to, from_a, lda, thread, m_left, depth);
    }
    if (kBRegisters) {
      b.template fetch<FIRST>(from_b, ldb, thread, n_left, depth);
    } else {
      b.template copy<FIRST>(to + ASlice::kElements, from_b, ldb, thread, n_left, depth);
    }
  }

  __device__ __forceinline__ void finish(int stage) {
    real* to = stages + stage * kStage;
    if (kARegisters) a.put(to, threadIdx.x);
    if (kBRegisters) b.put(to + ASlice::kElements, threadIdx.x);
  }

  __device__ __forceinline__ void close() { commit_copies(); }

  template <int LEFT>
  __device__ __forceinline__ void wait(int) {
    if (STAGES == 1) commit_copies();
    wait_copies<LEFT>();
  }
};

#endif
