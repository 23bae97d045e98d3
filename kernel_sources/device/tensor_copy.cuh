// SPDX-License-Identifier: Apache-2.0
// The tensor memory accelerator (TMA): one thread copies a box of a matrix into shared memory, and
// a barrier there counts the bytes that have arrived. From compute capability 9.0 on.
#pragma once

#include "shared_memory.cuh"

/// A CUtensorMap, passed by value as a `const __grid_constant__` argument.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// An mbarrier in shared memory. It counts one arrival and the bytes of its copies.
typedef unsigned long long CopyBarrier;

__device__ __forceinline__ void init(SharedAddress barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/// Makes init() visible to other threads and to the copies. A __syncthreads() must follow.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// Arrives at the barrier. Its phase ends once `bytes` have been copied.
__device__ __forceinline__ void expect(SharedAddress barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// Returns when the phase of this parity has ended.
__device__ __forceinline__ void wait_for(SharedAddress barrier, int parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n"
      "again:\n\t"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Fetches the map itself, so that the first copy does not wait for it.
__device__ __forceinline__ void prefetch(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// True in one thread of a converged warp. The compiler knows that it is one thread: copies behind
/// this are single instructions. Behind `threadIdx.x == 0` each becomes a loop.
__device__ __forceinline__ bool elect_one() {
  unsigned elected;
  asm volatile(
      "{\n\t.reg .pred one;\n\t"
      "elect.sync _|one, 0xffffffff;\n\t"
      "selp.u32 %0, 1, 0, one;\n\t}"
      : "=r"(elected));
  return elected;
}

/// Copies the box of `map` at column x and row y; zeros outside the matrix.
__device__ __forceinline__ void copy_box(SharedAddress to, const TensorMap& map, int x, int y,
                                         SharedAddress barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
