// SPDX-License-Identifier: Apache-2.0
// The bulk tensor copy engine (TMA): a box of a matrix into shared memory by one thread, with the
// arrival counted by a barrier in shared memory. From compute capability 9.0.
#pragma once

#include "shared_memory.cuh"

/// A CUtensorMap, passed by value as a `const __grid_constant__` argument.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Eight bytes in shared memory that count one arrival and the bytes of its copies.
typedef unsigned long long CopyBarrier;

__device__ __forceinline__ void init(SharedAddress barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/// After init() and before the barrier that lets other threads use them.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// The arrival: this phase ends once `bytes` have been copied.
__device__ __forceinline__ void expect(SharedAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Returns when the phase of this parity is over.
__device__ __forceinline__ void wait_for(SharedAddress barrier, int parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n"
      "again:\n\t"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Fetches the map itself, so that the first copy need not wait for it.
__device__ __forceinline__ void prefetch(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// True in one thread of a whole warp. Copies that stand behind it are plain instructions; behind
/// a comparison of thread numbers, which the compiler does not see through, each is a loop.
__device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile(
      "{\n\t.reg .pred one;\n\t"
      "elect.sync _|one, 0xffffffff;\n\t"
      "selp.u32 %0, 1, 0, one;\n\t}"
      : "=r"(elected));
  return elected;
}

/// The box of `map` at column x, row y; outside the matrix zeros.
__device__ __forceinline__ void copy_box(SharedAddress to, const TensorMap& map, int x, int y,
                                         SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
