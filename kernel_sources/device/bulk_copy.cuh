// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator: contiguous bytes into shared memory, boxes of a matrix
// to and from there. A ring of stages stands between the thread that starts copies and the warps
// that read them. From compute capability 9.0 on.
#pragma once

#ifndef AUTOTUNE_HOST
#include "tensor_copy.cuh"
#endif
#include "shared_memory.cuh"

#ifdef AUTOTUNE_HOST

/// A phase ends when nobody and no byte is awaited any more.
struct CopyBarrier {
  short arrivals, awaited;
  int bytes : 31;
  unsigned parity : 1;

  void end_phase() {
    if (awaited > 0 || bytes > 0) return;
    awaited = arrivals;
    parity ^= 1;
  }
};

inline CopyBarrier& barrier_at(SharedAddress at) { return *shared_pointer<CopyBarrier>(at); }

inline void init(SharedAddress barrier, int arrivals = 1) {
  barrier_at(barrier) = {(short)arrivals, (short)arrivals, 0, 0};
}
inline void publish_barriers() {}

inline void arrive(SharedAddress barrier) {
  --barrier_at(barrier).awaited;
  barrier_at(barrier).end_phase();
}
inline void expect(SharedAddress barrier, int bytes) {
  barrier_at(barrier).bytes += bytes;
  arrive(barrier);
}
/// Lets other threads go on meanwhile.
inline void wait_for(SharedAddress barrier, int parity) {
  while (barrier_at(barrier).parity == (unsigned)parity) __syncwarp(1u << threadIdx.x % 32);
}
inline bool elect_one() { return threadIdx.x % 32 == 0; }

inline void copy_bulk(SharedAddress to, const void* from, int bytes, SharedAddress barrier) {
  for (int i = 0; i < bytes; ++i) shared_pointer<char>(to)[i] = static_cast<const char*>(from)[i];
  barrier_at(barrier).bytes -= bytes;
  barrier_at(barrier).end_phase();
}

typedef autotune_host::TensorMap TensorMap;

inline void prefetch(const TensorMap&) {}

/// use(element in shared memory, element of the matrix or nullptr outside of it) for all of a box,
/// of the matrix z, whose lines have `length` elements.
template <class Use>
inline void for_box(SharedAddress at, const TensorMap& map, long long length, int x0, int y0, int z,
                    const Use& use) {
  const int pitch = map.box[0] * map.element_bytes;
  const int swizzle = map.swizzle_bytes == 0 ? 0 : map.swizzle_bytes - 16;
  for (int y = y0; y < y0 + map.box[1]; ++y) {
    for (int x = x0; x < x0 + map.box[0]; ++x) {
      const int plain = (y - y0) * pitch + (x - x0) * map.element_bytes;
      use(shared_pointer<char>(at + (plain ^ (plain >> 3 & swizzle))),
          x < length && y < map.dims[1] && z < map.dims[2]
              ? map.bytes + z * map.strides[1] + y * map.strides[0] + x * map.element_bytes
              : nullptr);
    }
  }
}

inline void copy_box(SharedAddress to, const TensorMap& map, int x, int y, int z,
                     SharedAddress barrier) {
  for_box(to, map, map.dims[0], x, y, z, [&](char* target, const char* source) {
    for (int i = 0; i < map.element_bytes; ++i) target[i] = source == nullptr ? 0 : source[i];
  });
  barrier_at(barrier).bytes -= map.box[0] * map.box[1] * map.element_bytes;
  barrier_at(barrier).end_phase();
}
inline void copy_box(SharedAddress to, const TensorMap& map, int x, int y, SharedAddress barrier) {
  copy_box(to, map, x, y, 0, barrier);
}

/// As a GPU does, whole units of 16 bytes at the end of a line.
inline void store_box(const TensorMap& map, int x, int y, int z, SharedAddress from) {
  const int unit = 16 / map.element_bytes;
  const long long length = (map.dims[0] + unit - 1) / unit * unit;
  for_box(from, map, length, x, y, z, [&](const char* source, char* target) {
    if (target == nullptr) return;
    for (int i = 0; i < map.element_bytes; ++i) target[i] = source[i];
  });
}
inline void store_box(const TensorMap& map, int x, int y, SharedAddress from) {
  store_box(map, x, y, 0, from);
}
inline void publish_to_copies() {}
inline void commit_stores() {}
template <int kPending>
inline void wait_stores_read() {}
inline void wait_stores() {}

#else

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
