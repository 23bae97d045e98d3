// SPDX-License-Identifier: Apache-2.0
// As device/tensor_copy.cuh and the copies of device/bulk_copy.cuh.
#pragma once

#include "device/shared_memory.cuh"

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

template <bool kThroughL1>
inline void copy_chunk(SharedAddress to, const void* from, bool predicate) {
  autotune_host::copy(shared_pointer<void>(to), from, predicate ? 16 : 0, predicate ? 0 : 16);
}
inline void arrive_after_copies(SharedAddress barrier) {
  autotune_host::commit_copies();
  autotune_host::wait_copies(0);
  arrive(barrier);
}
