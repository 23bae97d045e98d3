// SPDX-License-Identifier: Apache-2.0
// Copies that mbarriers count: by threads, or by the tensor memory accelerator, which copies
// contiguous bytes into shared memory, and boxes of a matrix to and from there. A ring of stages
// stands between the threads that copy and the warps that read. From compute capability 9.0 on.
#pragma once

#include "shared_memory.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/bulk_copy.cuh"
#else
#include "tensor_copy.cuh"

/// A barrier whose phase ends after this many arrivals.
__device__ __forceinline__ void init(SharedAddress barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Copies the box of `map` at column x and row y of the matrix z; zeros outside of it.
__device__ __forceinline__ void copy_box(SharedAddress to, const TensorMap& map, int x, int y,
                                         int z, SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Both addresses and `bytes` are multiples of 16.
__device__ __forceinline__ void copy_bulk(SharedAddress to, const void* from, int bytes,
                                          SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

/// Copies 16 bytes by cp.async, past the L1 cache or through it. Where `predicate` is false, writes
/// zeros and reads nothing. At addresses that are no multiples of 32 bytes, copies past the L1
/// cache take twice as long.
template <bool kThroughL1>
__device__ __forceinline__ void copy_chunk(SharedAddress to, const void* from, bool predicate) {
  const int bytes = predicate ? 16 : 0;
  if constexpr (kThroughL1) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  }
}

/// Arrives once what this thread has begun to copy is there.
__device__ __forceinline__ void arrive_after_copies(SharedAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

/// Makes what this thread wrote to shared memory visible to copies. A barrier must follow.
__device__ __forceinline__ void publish_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Copies a box of shared memory to column x and row y of the matrix. Of what lies outside, units
/// of 16 bytes that begin inside are written: lines must be multiples of these.
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, SharedAddress from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}
__device__ __forceinline__ void store_box(const TensorMap& map, int x, int y, int z,
                                          SharedAddress from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(x), "r"(y), "r"(z), "r"(from)
      : "memory");
}

/// Makes a group of this thread's stores since the last commit.
__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Returns when all but the newest kPending groups of this thread have read shared memory.
template <int kPending>
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Returns when this thread's stores have ended.
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif

/// A place in a ring of kStages stages. Each stage has two barriers: `filled` ends a phase when its
/// copies are there, `emptied` when all readers have released it.
template <int kStages>
struct StageRing {
  static constexpr int kBytes = 2 * kStages * sizeof(CopyBarrier);

  SharedAddress barriers;
  int stage = 0, parity = 0;

  /// One thread calls this, and publish_barriers(), before all threads meet.
  __device__ __forceinline__ void prepare(int readers) const {
    for (int i = 0; i < kStages; ++i) {
      init(barriers + i * sizeof(CopyBarrier));
      init(barriers + (kStages + i) * sizeof(CopyBarrier), readers);
    }
  }

  __device__ __forceinline__ SharedAddress filled() const {
    return barriers + stage * sizeof(CopyBarrier);
  }
  __device__ __forceinline__ SharedAddress emptied() const {
    return barriers + (kStages + stage) * sizeof(CopyBarrier);
  }

  __device__ __forceinline__ void wait_filled() const { wait_for(filled(), parity); }
  /// Returns at once in the first round.
  __device__ __forceinline__ void wait_emptied() const { wait_for(emptied(), parity ^ 1); }

  __device__ __forceinline__ void advance() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};
