// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory: cp.async from compute capability 8.0 on, plain
// copies below. On the host device a copy is made in the wait, as late as it may be.
//
//   copy_async<16>(shared, global);  …  commit_copies();  …  wait_copies<0>();  __syncthreads();
//
// A thread waits for its own copies only. A barrier must follow before other threads read them.
// Both addresses are aligned to the size of the copy: 4, 8 or 16 bytes.
#pragma once

#include "shared_memory.cuh"
#ifdef AUTOTUNE_HOST
#include "on_host/async_copy.cuh"
#else

/// Copies `Bytes` bytes. Where `predicate` is false, writes zeros and reads nothing.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool predicate = true) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int bytes = predicate ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(Bytes),
                 "r"(bytes)
                 : "memory");
  }
#else
  struct alignas(Bytes) Words {
    int words[Bytes / 4];
  };
  *static_cast<Words*>(shared) = predicate ? *static_cast<const Words*>(global) : Words{};
#endif
}

/// Makes a group of the copies since the last commit.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most the newest `Groups` groups are in flight.
template <int Groups>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
}

#endif
