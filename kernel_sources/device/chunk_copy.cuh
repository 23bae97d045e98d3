// SPDX-License-Identifier: Apache-2.0
// Copies of 16 bytes by cp.async, past the L1 cache or through it, which an mbarrier counts. From
// compute capability 9.0 on.
#pragma once

#include "bulk_copy.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/chunk_copy.cuh"
#else

/// Where `predicate` is false, writes zeros and reads nothing. At addresses that are no multiples
/// of 32 bytes, copies past the L1 cache take twice as long.
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

#endif
